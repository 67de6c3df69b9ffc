import type { ReasonEntry } from './types.ts';

/** Volumes that pods fill. */
export const POPULATORS = {} as const satisfies Record<string, ReasonEntry>;
