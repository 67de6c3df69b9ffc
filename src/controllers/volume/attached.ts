import { READY_REASON } from '../../api/names.ts';
import { explain } from '../../api/reasons.ts';
import type { Attachment, Volume } from '../../api/volume.ts';
import type { Ready } from './status.ts';

/** What the volume controller knows of attaching: who does it tells where devices are in the status, and is told there what is missing. */

export const isOnDemand = ({ spec }: Volume): boolean => spec.attachPolicy === 'OnDemand';

export const attachmentsOf = ({ status }: Volume): readonly Attachment[] =>
  status?.attachments ?? [];

/** @param waiting what waits to be attached or detached */
export const attachmentDisabled = (waiting: string): Ready => ({
  status: 'Unknown',
  reason: READY_REASON.attachmentDisabled,
  ...explain('AttachmentDisabled', { waiting }),
});
