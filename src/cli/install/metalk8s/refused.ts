import { StowageError } from '../../../api/errors.ts';
import type { Volume } from '../../../api/volume.ts';

/** Returns the error for a Volume that is not adopted. */
export const refusedVolume = (
  { metadata: { name } }: Volume,
  why: string,
  hint: string,
): StowageError =>
  new StowageError('conflict', `Volume ${name} is not adopted: ${why}`, {
    hint,
    object: { kind: 'Volume', name },
  });
