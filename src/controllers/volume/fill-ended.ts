import { parseQuantity } from '../../api/quantity.ts';
import type { Volume, VolumeStatus } from '../../api/volume.ts';
import { parseJobName } from '../../model/job-name.ts';

/** That a volume was filled on its node, or that one try of that has failed. */
export interface FillEnded {
  result: 'success' | 'error';
  /** Since the Volume was made. */
  ms: number;
  /** The volume that is filled: its size, and its class. */
  filled?: { bytes: bigint; storageClass: string };
}

/**
 * What a status that is written tells of the filling of a Volume on its node; undefined where it tells of no end of it, or of
 * one that was told of before. Pure.
 * @param now in ms since the epoch
 */
export function fillEnded(
  { metadata, spec, status: before }: Volume,
  after: VolumeStatus,
  now: number,
): FillEnded | undefined {
  if (spec.source?.populator == null || before?.prepared != null) return undefined;
  const ms = now - Date.parse(metadata.creationTimestamp ?? '');
  if (after.prepared != null) {
    const bytes = parseQuantity(after.capacity ?? '0');
    return { result: 'success', ms, filled: { bytes, storageClass: spec.storageClassName } };
  }
  const tries = (status: VolumeStatus | undefined) => {
    const job = parseJobName(status?.job);
    return job?.kind === 'PrepareVolume' ? (job.attempt ?? 0) : 0;
  };
  const again = tries(before) > 0 && tries(after) > tries(before);
  const givenUp = before?.phase !== 'Failed' && after.phase === 'Failed';
  return again || givenUp ? { result: 'error', ms } : undefined;
}
