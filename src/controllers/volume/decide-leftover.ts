import type { Leftover } from '../../api/leftover.ts';
import { READY_REASON } from '../../api/names.ts';
import { explain } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { endOfEarlierJob, reclaimStorage } from './finalize.ts';
import { report } from './job-retry.ts';
import { leftoverProblem } from './leftover.ts';
import { unlessPaused } from './paused.ts';
import type { Decision, Input } from './types.ts';

/**
 * Decides the next action for a Leftover: reclaims the storage of its Volume, then releases the
 * object. Pure.
 * @param owner the Volume with that UID: its deletion is about to finish, or someone created the
 *   Leftover manually
 * @param input with `volumeOf(leftover)`, and without a PersistentVolume
 * @param now ms since the epoch
 */
export function decideLeftover(
  leftover: Leftover,
  owner: Volume | undefined,
  input: Input,
  now: number,
): Decision {
  const problem = leftoverProblem(leftover, owner);
  if (problem !== undefined) {
    const why = explain('LeftoverInvalid', { problem });
    const ready = { status: 'False', reason: READY_REASON.internalError, ...why } as const;
    return report(input.volume, now, 'Failed', ready, {});
  }
  if (owner === undefined) return reclaimLeftover(input, now);
  const why = explain('LeftoverOwned', { volume: owner.metadata.name });
  const ready = { status: 'Unknown', reason: READY_REASON.terminating, ...why } as const;
  return report(input.volume, now, 'Terminating', ready, {});
}

const reclaimLeftover = unlessPaused(
  (input, now) => endOfEarlierJob(input, now) ?? reclaimStorage(input, undefined, now),
);
