import type { ReasonEntry } from './types.ts';

/** Claims that a volume is made for, and what they start from. */
export const CLAIMS = {} as const satisfies Record<string, ReasonEntry>;
