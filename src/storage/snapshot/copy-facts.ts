import { fileBytes } from '../loopfile/layout.ts';
import type { DesiredSnapshot, ObservedSnapshot } from './types.ts';

/**
 * For how many bytes a volume that is made from the copy is made at least; undefined where the copy is not there, whole. A
 * copy with a partition table is of a Block volume, whose file is larger by that.
 */
export function observedCopy(
  { uid }: Pick<DesiredSnapshot, 'uid'>,
  { copy, signature }: Pick<ObservedSnapshot, 'copy' | 'signature'>,
): bigint | undefined {
  if (copy.type !== 'file' || signature.found !== 'one' || signature.uuid !== uid) return undefined;
  return signature.type === 'gpt'
    ? copy.sizeBytes - fileBytes({ mode: 'Block', sizeBytes: 0n })
    : copy.sizeBytes;
}
