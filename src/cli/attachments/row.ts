import type { Attachment, Volume } from '../../api/volume.ts';

/** As docs/output.md has it: the device of a Volume on one node. */
export interface AttachmentRow extends Omit<Attachment, 'state' | 'readOnly'> {
  volume: string;
  /** `Detached`, `Gone`: of a watch, which shows it once more. */
  state: Attachment['state'] | 'Detached' | 'Gone';
  readOnly: boolean;
}

/** In the order in which the Volumes are given; those of a Volume by node. `nodes`: on these only. */
export function attachmentRows(
  volumes: readonly Volume[],
  nodes: readonly string[] | undefined,
): AttachmentRow[] {
  return volumes.flatMap((volume) => {
    const { attachments = [] } = volume.status ?? {};
    return attachments
      .filter(({ node }) => nodes === undefined || nodes.includes(node))
      .toSorted((a, b) => (a.node < b.node ? -1 : 1))
      .map(({ node, state, pods = [], since, ...more }) => ({
        volume: volume.metadata.name,
        node,
        state,
        pods,
        since,
        safeToMount: more.safeToMount,
        safeToDetach: more.safeToDetach,
        readOnly: more.readOnly ?? false,
        ...(more.device === undefined ? {} : { device: more.device }),
        ...(more.message ? { message: more.message } : {}),
      }));
  });
}

/** No name of an object, for there is none: as that of a part of the Volume. */
export const attachmentName = ({ volume, node }: AttachmentRow): string =>
  `attachment/${volume}/${node}`;

const KEYS = {
  volume: ({ volume }: AttachmentRow) => volume,
  node: ({ node }: AttachmentRow) => node,
  state: ({ state }: AttachmentRow) => state,
  // The youngest first.
  age: ({ since }: AttachmentRow) => -(Date.parse(since) || 0),
};
export type AttachmentSortField = keyof typeof KEYS;

/** Sorted by what a column shows, the smallest first, and those that are the same by Volume and node. */
export function sortAttachments(
  rows: readonly AttachmentRow[],
  field: AttachmentSortField,
): AttachmentRow[] {
  const keys = [KEYS[field], KEYS.volume, KEYS.node];
  return rows.toSorted((a, b) => keys.reduce((order, key) => order || compare(key(a), key(b)), 0));
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : Number(a > b));
