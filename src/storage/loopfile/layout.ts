import { GPT_END, GPT_START } from '../gpt.ts';
import type { DesiredSparse, ObservedSparse } from '../types.ts';

type Sized = Pick<DesiredSparse, 'mode' | 'sizeBytes'>;

/** Returns the length (bytes) of the file: a partition is never smaller than requested. */
export function fileBytes({ mode, sizeBytes }: Sized): bigint {
  return mode === 'Block' ? GPT_START + sizeBytes + GPT_END : sizeBytes;
}

/** Returns the size (bytes) of a volume whose file has that length. */
export function volumeBytes(mode: DesiredSparse['mode'], bytes: bigint): bigint {
  return mode === 'Block' ? bytes - GPT_START - GPT_END : bytes;
}

/** Returns the size (bytes) that the volume is provisioned for; undefined if it is unknown. */
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
