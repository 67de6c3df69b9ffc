import { READY_REASON } from '../../api/names.ts';
import { explain } from '../../api/reasons.ts';
import type { Attachment, Volume } from '../../api/volume.ts';
import type { Ready } from './status.ts';

/**
 * The volume controller's view of attachments. The attachment controller reports devices in the
 * status, and reads there which devices are missing.
 */

export const isOnDemand = ({ spec }: Volume): boolean => spec.attachPolicy === 'OnDemand';

export const attachmentsOf = ({ status }: Volume): readonly Attachment[] =>
  status?.attachments ?? [];

/** @param waiting the attach or detach that cannot proceed */
export const attachmentDisabled = (waiting: string): Ready => ({
  status: 'Unknown',
  reason: READY_REASON.attachmentDisabled,
  ...explain('AttachmentDisabled', { waiting }),
});
