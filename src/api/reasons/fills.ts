import type { ReasonEntry } from './types.ts';

/** Volumes that are filled on their node from an archive, an image or a backup. */
export const FILLS = {} as const satisfies Record<string, ReasonEntry>;
