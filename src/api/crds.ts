import { LEFTOVER_CRD } from './leftover-crd.ts';
import { VOLUME_CRD } from './volume-crd.ts';

/** All that Stowage brings. */
export const CRDS = [VOLUME_CRD, LEFTOVER_CRD] as const;
