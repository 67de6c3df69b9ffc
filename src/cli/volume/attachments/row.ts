import type { Attachment, Volume } from '../../../api/volume.ts';

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
