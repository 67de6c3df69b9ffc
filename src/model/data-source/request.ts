import type { PersistentVolumeClaim } from '../../api/core.ts';
import { parseQuantity } from '../../api/quantity.ts';

type ClaimRequest = Pick<PersistentVolumeClaim, 'spec'>;

/** What a claim asks for, in bytes. Throws a StowageError for what is no quantity, which API servers let nobody write. */
export const requestOf = ({ spec }: ClaimRequest): bigint =>
  parseQuantity(spec.resources?.requests?.storage ?? '0');

export const modeOf = ({ spec }: ClaimRequest): string => spec.volumeMode ?? 'Filesystem';
