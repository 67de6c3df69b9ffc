import type { FsType } from '../api/file-systems.ts';
import type { Observed } from './registry.ts';
import { fsTypeOf } from './signature.ts';
import type { Signature } from './types.ts';

/**
 * Returns the type of the file system on a volume; undefined if Stowage does not make that type, or
 * if the content is unreadable (an inactive logical volume).
 */
export function fileSystemOf(observed: Observed): FsType | undefined {
  const signature = signatureOf(observed);
  return signature && fsTypeOf(signature);
}

function signatureOf(observed: Observed): Signature | undefined {
  if ('signature' in observed) return observed.signature;
  return observed.target.is === 'device' ? observed.target.facts.signature : undefined;
}
