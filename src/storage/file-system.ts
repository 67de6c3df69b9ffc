import { type FsType, isFsType } from '../api/file-systems.ts';
import type { Observed } from './registry.ts';
import { fsTypeOf } from './signature.ts';
import type { Signature } from './types.ts';

/**
 * Returns the type of the file system on a volume; undefined if Stowage does not make that type. If
 * the content is unreadable, as of an inactive logical volume, the type is that of the node's
 * record.
 * @param isCopy the volume started as a copy: its record has the type of the class, and not that of
 *   the source
 */
export function fileSystemOf(observed: Observed, isCopy: boolean): FsType | undefined {
  const signature = signatureOf(observed);
  if (signature !== undefined) return fsTypeOf(signature);
  const recorded = isCopy ? undefined : observed.intent?.fsType;
  return recorded !== undefined && isFsType(recorded) ? recorded : undefined;
}

/** Returns the signature of the content; undefined if there is no device or file to read. */
function signatureOf(observed: Observed): Signature | undefined {
  if ('signature' in observed)
    return observed.file.type === 'missing' ? undefined : observed.signature;
  return observed.target.is === 'device' ? observed.target.facts.signature : undefined;
}
