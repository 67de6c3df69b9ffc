import { PROTECTION_FINALIZER } from '../../api/names.ts';
import { explain } from '../../api/reasons.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { RETRY } from '../../model/retry.ts';
import { statusProblem } from '../../model/status-problem.ts';
import { finalize } from './finalize.ts';
import { report } from './job-retry.ts';
import { maintain } from './maintain.ts';
import { unlessPaused } from './paused.ts';
import { provision } from './provision.ts';
import { unavailable } from './ready.ts';
import { addStalled, isRecoverable } from './stalled.ts';
import { isRetryRequested, readyOf } from './status.ts';
import type { Decision, Input } from './types.ts';

/**
 * Decides the next action for one Volume: the top level of the reconciliation loop in the
 * specification. Pure.
 * @param now ms since the epoch
 */
export const decide = unlessPaused(reconcile);

function reconcile(input: Input, now: number): Decision {
  const { volume, pv } = input;
  const problem = statusProblem(volume);
  if (problem !== undefined) {
    const { message, detail } = explain('StatusInvalid', { problem });
    // Recheck by time: a correction may send no event.
    return report(volume, now, 'Failed', unavailable(message, detail), {
      requeueAfter: RETRY.recheck,
    });
  }
  // Checked before validity, unlike in the chart: a Volume that was never valid can still be
  // deleted.
  if (volume.metadata.deletionTimestamp !== undefined) {
    return volume.metadata.finalizers?.includes(PROTECTION_FINALIZER) ? finalize(input, now) : {};
  }
  // Added before any job, so that no storage is provisioned for an object that may be gone. Added
  // again if removed.
  if (!volume.metadata.finalizers?.includes(PROTECTION_FINALIZER)) {
    return { action: { do: 'add-finalizer' } };
  }
  if (isStuck(input)) {
    const action = addStalled(volume);
    return action === undefined ? {} : { action };
  }
  return pv !== undefined && isPvOf(pv, volume) ? maintain(input, now) : provision(input, now);
}

/**
 * Reports whether a Volume failed permanently, until its spec changes or a retry is requested. An
 * unavailable Volume may recover by itself. While it is attached again, or its node is away, its
 * Ready is Unknown and its phase still Failed.
 */
function isStuck({ volume }: Input): boolean {
  const ready = readyOf(volume);
  return (
    volume.status?.phase === 'Failed' &&
    ready?.status === 'False' &&
    !isRecoverable(ready.reason) &&
    volume.status.observedGeneration === volume.metadata.generation &&
    !isRetryRequested(volume)
  );
}
