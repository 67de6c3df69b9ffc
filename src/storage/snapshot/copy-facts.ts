import { fileBytes } from '../loopfile/layout.ts';
import type { DesiredSnapshot, ObservedSnapshot } from './types.ts';

/**
 * Returns the minimum size in bytes of a volume made from the copy; undefined without a whole copy.
 * A copy with a partition table is of a Block volume, whose file is larger by the table.
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
