import type { SnapshotMode } from './types.ts';

/** Values of `--snapshot-controller`. */
export const SNAPSHOT_CONTROLLERS = ['auto', 'builtin', 'external'] as const;
export type SnapshotController = (typeof SNAPSHOT_CONTROLLERS)[number];

/** Names of the standard snapshot-controller's Lease and Deployment in its manifests. */
export const CONTROLLER_LEASE = 'snapshot-controller-leader';
export const CONTROLLER_DEPLOYMENT = 'snapshot-controller';

/** Observed Lease with the name `CONTROLLER_LEASE`, in any namespace. */
export interface SeenLease {
  /** Empty or undefined if the Lease is released. */
  holder: string | undefined;
  /**
   * Time at which this process first observed the present state, in ms since the epoch. The Lease's
   * own times are by another machine's clock.
   */
  seenAt: number;
  durationSeconds: number | undefined;
}

/** Observed Deployment with the name `CONTROLLER_DEPLOYMENT`, in any namespace. */
export interface SeenDeployment {
  readyReplicas: number;
}

/**
 * Lease durations to wait for a renewal, which may be late, as may the watch. Two active
 * controllers are worse than a while without one.
 */
const GRACE = 3;
const DURATION = 15;

/**
 * Returns `external` while the standard snapshot-controller has a ready Deployment or a Lease that
 * it renews. The Deployment covers a controller without leader election. Pure.
 * @returns the mode, and `until`: when to decide again if nothing changes before, in ms since the
 * epoch
 */
export function modeOf(
  flag: SnapshotController,
  leases: readonly SeenLease[],
  deployments: readonly SeenDeployment[],
  now: number,
): { mode: SnapshotMode; until?: number } {
  if (flag !== 'auto') return { mode: flag };
  if (deployments.some(({ readyReplicas }) => readyReplicas > 0)) return { mode: 'external' };
  const ends = leases
    .filter(({ holder }) => holder)
    .map(({ seenAt, durationSeconds }) => seenAt + (durationSeconds || DURATION) * 1000 * GRACE)
    .filter((end) => end > now);
  return ends.length === 0 ? { mode: 'builtin' } : { mode: 'external', until: Math.max(...ends) };
}
