import type { PersistentVolumeClaim } from '../../api/core.ts';
import { parseQuantity } from '../../api/quantity.ts';

type Claim = Pick<PersistentVolumeClaim, 'spec'>;

/** What a claim asks for, in bytes. Throws a StowageError for what is no quantity, which API servers let nobody write. */
export const requestOf = ({ spec }: Claim): bigint =>
  parseQuantity(spec.resources?.requests?.storage ?? '0');

export const modeOf = ({ spec }: Claim): string => spec.volumeMode ?? 'Filesystem';
