import type { ReasonEntry } from './types.ts';

/** Devices that are attached to nodes and detached from them, for pods. */
export const ATTACHMENTS = {} as const satisfies Record<string, ReasonEntry>;
