import type { PersistentVolumeClaim } from '../../api/core.ts';
import { parseQuantity } from '../../api/quantity.ts';

type ClaimRequest = Pick<PersistentVolumeClaim, 'spec'>;

/**
 * Returns the requested storage of a claim in bytes. Throws a StowageError for an invalid quantity,
 * which API servers refuse.
 */
export const requestOf = ({ spec }: ClaimRequest): bigint =>
  parseQuantity(spec.resources?.requests?.storage ?? '0');

export const modeOf = ({ spec }: ClaimRequest): string => spec.volumeMode ?? 'Filesystem';
