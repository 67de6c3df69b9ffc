import { isDnsSubdomain } from '../../api/dns-name.ts';
import type { Attachment } from '../../api/volume.ts';
import { attachedNodes } from '../../model/attached-nodes.ts';
import { compare } from './desired-state.ts';
import type { NodeAttachment } from './types.ts';

/** How entries outlive the process: the node list on the PersistentVolume, and what the Volume's status shows. */

/**
 * What was known before this process began, of which nothing is certain. What cannot be read is left out: it was not
 * written by Stowage.
 * @param annotation of ATTACHED_NODES_ANNOTATION; undefined: there is none
 * @param now ms since the epoch
 * @param readOnly how those have it that only the annotation names, which tells no more than names
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

/** The nodes to record: those that have it, or may have it. Sorted, each once. */
export const recordOf = (entries: readonly NodeAttachment[]): string[] =>
  [...new Set(entries.map(({ node }) => node))].sort(compare);

/**
 * The annotation as it is to be written; undefined where it says so already. This difference is the dirty flag of the
 * specification, one for each volume: nothing has to remember that it is to be written.
 * @param written as it is; undefined: there is none, as on a volume from before there was a record, which has none to tell of
 */
export function recordToWrite(
  written: string | undefined,
  entries: readonly NodeAttachment[],
): string | undefined {
  const record = JSON.stringify(recordOf(entries));
  return written === record || (written === undefined && entries.length === 0) ? undefined : record;
}

/** The entries as the status of the Volume shows them, sorted by node. */
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
