import { isDnsSubdomain } from '../../api/dns-name.ts';
import type { Attachment } from '../../api/volume.ts';
import { attachedNodes } from '../../model/attached-nodes.ts';
import { compare } from './desired-state.ts';
import type { NodeAttachment } from './types.ts';

/**
 * Persistence of entries: the list of nodes on the PersistentVolume, and the attachments in the
 * Volume's status.
 */

/**
 * Returns the entries that an earlier process recorded, all Uncertain. Skips unreadable items,
 * which Stowage did not write.
 * @param annotation value of ATTACHED_NODES_ANNOTATION; undefined if absent
 * @param now ms since the epoch
 * @param readOnly access of nodes that only the annotation names, since the annotation holds only
 *   names
 */
export function attachmentsFromAnnotation(
  annotation: string | undefined,
  attachments: readonly Attachment[] | undefined,
  now: number,
  readOnly = false,
): NodeAttachment[] {
  const entries = new Map<string, NodeAttachment>();
  for (const node of attachedNodes(annotation)) entries.set(node, uncertain(node, readOnly, now));
  for (const shown of Array.isArray(attachments)
    ? (attachments as (Partial<Attachment> | null)[])
    : []) {
    const node = shown?.node;
    if (typeof node !== 'string' || !isDnsSubdomain(node)) continue;
    const since = Date.parse(String(shown?.since));
    entries.set(node, uncertain(node, shown?.readOnly === true, Number.isNaN(since) ? now : since));
  }
  return [...entries.values()].sort(byNode);
}

const uncertain = (node: string, readOnly: boolean, since: number): NodeAttachment => ({
  node,
  state: 'Uncertain',
  readOnly,
  safeToMount: false,
  safeToDetach: false,
  pods: [],
  device: undefined,
  since,
  message: undefined,
});

/** Returns the nodes to record, which have or may have the volume: sorted, each once. */
export const recordOf = (entries: readonly NodeAttachment[]): string[] =>
  [...new Set(entries.map(({ node }) => node))].sort(compare);

/**
 * Returns the annotation to write; undefined if it is up to date. This comparison replaces the
 * dirty flag of the specification, one per volume.
 * @param written current value; undefined if absent, as on a volume older than the record, which
 *   needs no empty one
 */
export function recordToWrite(
  written: string | undefined,
  entries: readonly NodeAttachment[],
): string | undefined {
  const record = JSON.stringify(recordOf(entries));
  return written === record || (written === undefined && entries.length === 0) ? undefined : record;
}

/** Returns the entries as the status of the Volume shows them, sorted by node. */
export function attachmentsOf(entries: readonly NodeAttachment[]): Attachment[] {
  return [...entries].sort(byNode).map((entry) => ({
    node: entry.node,
    state: entry.state,
    ...(entry.readOnly ? { readOnly: true } : {}),
    safeToMount: entry.safeToMount,
    safeToDetach: entry.safeToDetach,
    pods: [...new Set(entry.pods.map(({ pod }) => pod))].sort(compare),
    ...(entry.device === undefined ? {} : { device: entry.device }),
    since: new Date(entry.since).toISOString(),
    ...(entry.message === undefined ? {} : { message: entry.message }),
    ...(entry.detail && { detail: entry.detail }),
  }));
}

export const byNode = (a: { node: string }, b: { node: string }): number => compare(a.node, b.node);
