import type { Observed } from './registry.ts';
import type { FsType, Signature } from './types.ts';

/**
 * The file system that a volume holds, as it was read from it; undefined where it holds none that Stowage makes, or what it
 * is in could not be looked into (a logical volume that is not active).
 */
export function fileSystemOf(observed: Observed): FsType | undefined {
  const signature = signatureOf(observed);
  if (signature?.found !== 'one') return undefined;
  const { type } = signature;
  return type === 'ext4' || type === 'xfs' ? type : undefined;
}

function signatureOf(observed: Observed): Signature | undefined {
  if ('signature' in observed) return observed.signature;
  return observed.target.is === 'device' ? observed.target.facts.signature : undefined;
}
