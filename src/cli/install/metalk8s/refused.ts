import { StowageError } from '../../../api/errors.ts';
import type { Volume } from '../../../api/volume.ts';

/** A Volume that is not adopted, as the failure that it is for a command. */
export const refusedVolume = (
  { metadata: { name } }: Volume,
  why: string,
  hint: string,
): StowageError =>
  new StowageError('conflict', `Volume ${name} is not adopted: ${why}`, {
    hint,
    object: { kind: 'Volume', name },
  });
