import { GPT_END, GPT_START } from '../gpt.ts';
import type { DesiredSparse, ObservedSparse } from '../types.ts';

type Sized = Pick<DesiredSparse, 'mode' | 'sizeBytes'>;

/** How long the file is, in bytes: a partition is never smaller than what was asked for. */
export function fileBytes({ mode, sizeBytes }: Sized): bigint {
  return mode === 'Block' ? GPT_START + sizeBytes + GPT_END : sizeBytes;
}

/** The same the other way round: for how many bytes a volume is whose file is that long. */
export function volumeBytes(mode: DesiredSparse['mode'], bytes: bigint): bigint {
  return mode === 'Block' ? bytes - GPT_START - GPT_END : bytes;
}

/** For how many bytes the volume is made so far; undefined where that can't be told. */
export function madeBytes(
  { mode, recordedBytes }: Sized & Pick<DesiredSparse, 'recordedBytes'>,
  { done, intent, file }: ObservedSparse,
): bigint | undefined {
  if (done?.sizeBytes !== undefined) return done.sizeBytes;
  if (intent !== undefined) return BigInt(intent.sizeBytes);
  if (recordedBytes !== undefined) return recordedBytes;
  // Made by MetalK8s, which keeps no records.
  return mode === 'Filesystem' && file.type === 'file' ? file.sizeBytes : undefined;
}
