import { READY_REASON } from '../../api/names.ts';
import { explain } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { desiredOf } from '../../model/desired-volume.ts';
import { RETRY } from '../../model/retry.ts';
import type { Step } from '../../nodes/job.ts';
import { cancelFill } from '../../storage/device.ts';
import { REFUSED } from '../../storage/populate/fill.ts';
import { progressText, readProgress } from '../../storage/populate/progress.ts';
import type { JobStep } from './job-phase.ts';
import { report } from './job-retry.ts';
import type { Decision, Input } from './types.ts';

/** Reports a running job in the status, with its progress if it populates the volume. */
export function reportRunning(
  volume: Volume,
  now: number,
  { message, output }: Extract<JobStep, { is: 'running' }>,
): Decision {
  const progress = readProgress(output);
  const fills = volume.spec.source?.populator != null;
  const far = fills && progress !== undefined ? progressText(progress) : undefined;
  const why = explain('JobStepRuns', { step: message, progress: far });
  const ready = { status: 'Unknown', reason: READY_REASON.pending, ...why } as const;
  return report(volume, now, 'Pending', ready, {
    watch: true,
    ...(fills ? { requeueAfter: RETRY.recheckSoon } : {}),
  });
}

/**
 * Reports whether a failed job must not be retried. Copies are retried, since they also fail for
 * transient causes, such as writes blocked for too long. Populators fail permanently only by
 * refusal.
 */
export const isPermanentFailure = ({ spec: { source } }: Volume, exit: number): boolean =>
  source == null || (source.populator != null && exit === REFUSED);

/** Returns how to resolve a permanent failure. */
export const recreateHint = ({ spec: { source } }: Volume): string =>
  source?.populator == null
    ? ''
    : 'Correct the data source, then delete the claim and create it again';

/**
 * Returns steps that cancel populating a Volume that is being deleted, which could otherwise take
 * hours.
 */
export function cancelSteps({ volume, node }: Input): Step[] {
  if (volume.status?.prepared != null) return [];
  const desired = desiredOf(volume, undefined, node);
  const isZeroed = 'zeroed' in desired && desired.zeroed === true;
  return volume.spec.source?.populator != null || isZeroed ? cancelFill(desired) : [];
}
