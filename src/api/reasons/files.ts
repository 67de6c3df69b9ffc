import type { ReasonEntry } from './types.ts';

/** Files that volumes are kept in, and their loop devices. */
export const FILES = {} as const satisfies Record<string, ReasonEntry>;
