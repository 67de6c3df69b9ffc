import { READY_REASON } from '../../api/names.ts';
import { explain } from '../../api/reasons.ts';
import { withHint } from '../../nodes/job-text.ts';
import { report } from './job-retry.ts';
import type { Ready } from './status.ts';
import type { Decision, Input } from './types.ts';

/** Reports that the source is unusable, and provisions nothing. */
export function withoutSource(input: Input, problem: string, now: number): Decision | undefined {
  const reason = READY_REASON.waitingForSource;
  const why = explain('VolumeSourceUnusable', { problem });
  return unlessBegun(input, now, { status: 'Unknown', reason, ...why });
}

/**
 * Returns the action due before the storage of another Volume is adopted, if any. Waits while that
 * Volume may be in use: its node may still be lost, or the Volume may be deleted.
 */
export function mayAdopt(input: Input, now: number): Decision | undefined {
  const { spec, status } = input.volume;
  if (spec.adopt == null || status?.prepared !== undefined) return undefined;
  if (input.adoption === undefined) return { action: { do: 'read-claimants' } };
  const { problem } = input.adoption;
  if (problem === undefined) return undefined;
  const message = withHint(problem.refusal, problem.hint);
  return unlessBegun(input, now, {
    status: 'False',
    reason: READY_REASON.adoptionRefused,
    message,
    detail: problem.reason,
  });
}

/**
 * Reports `ready`, unless a job began earlier. Returns undefined if that job still runs or is done,
 * since it needs no permission any more.
 */
function unlessBegun(
  { volume, job, observation }: Input,
  now: number,
  ready: Ready,
): Decision | undefined {
  if (job === undefined) return { action: { do: 'poll' } };
  if ('known' in job) {
    if (job.known.state === 'running') return undefined;
    if (observation === undefined) return { action: { do: 'observe' } };
    if ('known' in observation && observation.known.done !== undefined) return undefined;
  }
  return report(volume, now, 'Pending', ready, { retry: true });
}
