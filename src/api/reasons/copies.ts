import type { ReasonEntry } from './types.ts';

/** Copies of volumes: snapshots on a node, and what is restored from them. */
export const COPIES = {} as const satisfies Record<string, ReasonEntry>;
