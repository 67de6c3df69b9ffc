import type { ReasonEntry } from './types.ts';

/** Backups. */
export const BACKUPS = {} as const satisfies Record<string, ReasonEntry>;
