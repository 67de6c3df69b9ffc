import { OUT_OF_SERVICE_TAINT, READY_REASON } from '../../api/names.ts';
import { type Reason, shownAs } from '../../api/reasons.ts';
import { validateVolume } from '../../model/validate-volume.ts';
import { attachmentDisabled, attachmentsOf, isOnDemand } from './attached.ts';
import { type Ready, readyOf } from './status.ts';
import type { Input } from './types.ts';

/** Condition Ready of provisioned Volumes. */

export const available = (
  { volume, pv, attachmentEnabled }: Input,
  notes: readonly string[] = [],
): Ready => ({
  status: 'True',
  reason: READY_REASON.available,
  message: [
    ...(pv?.metadata.deletionTimestamp === undefined
      ? []
      : [
          'the PersistentVolume is marked for deletion, and is removed when this Volume is deleted',
        ]),
    // Invalid changes of the spec since the Volume was provisioned.
    ...validateVolume(volume).map((problem) => `not applied: ${problem}`),
    // Without the attachment controller, nothing tracks which pods need the volume.
    ...(isOnDemand(volume) && !attachmentEnabled
      ? [
          "the volume is neither attached nor detached as pods need it: the controller attachment is disabled. Enable it with stowage watch --controllers '*'",
        ]
      : []),
    ...notes,
  ].join('; '),
});
export const unavailable = (message: string, detail: Reason | undefined): Ready => ({
  status: 'False',
  reason: shownAs(detail) ?? READY_REASON.unavailableError,
  message,
  detail,
});

/**
 * Returns the condition Ready of a Volume whose device must be attached and is missing. `now` is in
 * ms since the epoch.
 */
export function waiting(
  { volume, node, attachmentEnabled, paused, off }: Input,
  now: number,
): Ready {
  const attachment = attachmentsOf(volume).find((each) => each.node === node);
  // The device was attached again and lost before that was observed: without a new message, no
  // update would report the loss.
  const ready = readyOf(volume);
  const reportedAt = Date.parse(ready?.lastUpdateTime ?? '');
  // A report from the future is by a clock that was set back since: which came first is unknown.
  const isLost =
    ready?.reason === READY_REASON.attaching &&
    attachment?.state === 'Attached' &&
    (Date.parse(attachment.since) > reportedAt || reportedAt > now);
  const what = `the device is not attached on node ${node}${isLost ? `, where it was attached at ${attachment.since}` : ''}`;
  if (paused === undefined && !attachmentEnabled) return attachmentDisabled(what);
  const held = attachment?.message;
  const attached = off
    ? `it is attached once the taint ${OUT_OF_SERVICE_TAINT} is removed from Node ${node}, or the Node is Ready`
    : `attaching${held === undefined ? '' : `: ${held}`}`;
  const message = `${what}; ${paused === undefined ? attached : `it is attached once ${paused.kind} ${paused.name} is no longer paused`}`;
  return { status: 'Unknown', reason: READY_REASON.attaching, message };
}
