import { driverOfSpec } from '../../../storage/registry.ts';
import { patchSpec } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { FixContext } from './types.ts';

/** Returns the fix that consents to the loss of data with a signature. */
export function consent(signature: string | undefined, { volume }: FixContext): Fix {
  const place = volume && driverOfSpec(volume.spec).overwritten?.(volume.spec);
  return {
    say: `There is data ${place ?? 'on the device'}. If none of it is needed, consent to its loss: set spec.overwrite to ${JSON.stringify(signature ?? '')}.`,
    ...(volume &&
      signature !== undefined && { run: [patchSpec(volume, { overwrite: signature })] }),
  };
}
