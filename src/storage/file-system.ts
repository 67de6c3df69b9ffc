import type { FsType } from '../api/file-systems.ts';
import type { Observed } from './registry.ts';
import { fsTypeOf } from './signature.ts';
import type { Signature } from './types.ts';

/**
 * The file system that a volume holds, as it was read from it; undefined where it holds none that Stowage makes, or what it
 * is in could not be looked into (a logical volume that is not active).
 */
export function fileSystemOf(observed: Observed): FsType | undefined {
  const signature = signatureOf(observed);
  return signature && fsTypeOf(signature);
}

function signatureOf(observed: Observed): Signature | undefined {
  if ('signature' in observed) return observed.signature;
  return observed.target.is === 'device' ? observed.target.facts.signature : undefined;
}
