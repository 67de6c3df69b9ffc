import type { ReasonEntry } from './types.ts';

/** The way to a node: ssh, sudo and Salt. */
export const NODES = {} as const satisfies Record<string, ReasonEntry>;
