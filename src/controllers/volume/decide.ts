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
import { isRecoverable, unavailable } from './ready.ts';
import { readyOf } from './status.ts';
import type { Decision, Input } from './types.ts';

/**
 * What to do about one Volume now: the top level of the reconciliation loop in the specification. Pure.
 * @param now ms since the epoch
 */
export const decide = unlessPaused(reconcile);

function reconcile(input: Input, now: number): Decision {
  const { volume, pv } = input;
  const problem = statusProblem(volume);
  if (problem !== undefined) {
    const { message, detail } = explain('StatusInvalid', { problem });
    // Nobody is told when it is put right.
    return report(volume, now, 'Failed', unavailable(message, detail), {
      requeueAfter: RETRY.recheck,
    });
  }
  // Before validity, unlike the chart: a Volume that never was valid can be deleted all the same.
  if (volume.metadata.deletionTimestamp !== undefined) {
    return volume.metadata.finalizers?.includes(PROTECTION_FINALIZER) ? finalize(input, now) : {};
  }
  // Before any job, so that nothing is made for an object that may be gone; and again if someone took it off.
  if (!volume.metadata.finalizers?.includes(PROTECTION_FINALIZER)) {
    return { action: { do: 'add-finalizer' } };
  }
  if (isStuck(input)) return {};
  return pv !== undefined && isPvOf(pv, volume) ? maintain(input, now) : provision(input, now);
}

/**
 * Failed for good, until someone changes the spec. What became unavailable may come back by itself, and while it does
 * (it is attached again, or its node is away) its Ready is Unknown and its phase still Failed.
 */
function isStuck({ volume }: Input): boolean {
  const ready = readyOf(volume);
  return (
    volume.status?.phase === 'Failed' &&
    ready?.status === 'False' &&
    !isRecoverable(ready.reason) &&
    volume.status.observedGeneration === volume.metadata.generation
  );
}
