import type { ReasonEntry } from './types.ts';

/** VolumeSnapshots and their contents. */
export const SNAPSHOTS = {} as const satisfies Record<string, ReasonEntry>;
