import type { Attachment, Volume } from '../../../api/volume.ts';

/** Row as docs/output.md describes it: the device of a Volume on a node. */
export interface AttachmentRow extends Omit<Attachment, 'state' | 'readOnly'> {
  volume: string;
  /** `Detached` and `Gone` occur only in watches, which show such a row once more. */
  state: Attachment['state'] | 'Detached' | 'Gone';
  readOnly: boolean;
}

/** Returns rows in the order of the Volumes, and by node within each. `nodes`: of these only. */
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

/** Returns a name like that of a part of the Volume: no such object exists. */
export const attachmentName = ({ volume, node }: AttachmentRow): string =>
  `attachment/${volume}/${node}`;
