import type { ReasonEntry } from './types.ts';

/** Files in a directory that several nodes share. */
export const SHARED_FILES = {} as const satisfies Record<string, ReasonEntry>;
