import type { ReasonEntry } from './types.ts';

/** Volumes: their specs, classes and PersistentVolumes, and storage that is adopted. */
export const VOLUMES = {} as const satisfies Record<string, ReasonEntry>;
