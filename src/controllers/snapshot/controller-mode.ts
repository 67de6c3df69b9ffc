import type { SnapshotMode } from './types.ts';

/** `--snapshot-controller`. */
export const SNAPSHOT_CONTROLLERS = ['auto', 'builtin', 'external'] as const;
export type SnapshotController = (typeof SNAPSHOT_CONTROLLERS)[number];

/** What the standard snapshot-controller is called, as its manifests have it. */
export const CONTROLLER_LEASE = 'snapshot-controller-leader';
export const CONTROLLER_DEPLOYMENT = 'snapshot-controller';

/** A Lease of that name in any namespace. */
export interface SeenLease {
  /** '' or undefined: it was released. */
  holder: string | undefined;
  /** When this process first saw it as it is, ms since the epoch: the times in it are of another machine's clock. */
  seenAt: number;
  durationSeconds: number | undefined;
}

/** A Deployment of that name in any namespace. */
export interface SeenDeployment {
  readyReplicas: number;
}

/** It may be renewed late, and our watch may lag: two at work are worse than a while without one. */
const GRACE = 3;
const DURATION = 15;

/**
 * Who does the common controller's part, by what is seen of the standard one: its Lease, which it renews, or, where it runs
 * without one, its Deployment. Pure.
 * @returns `until`: when to ask again if nothing changes before, ms since the epoch
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
