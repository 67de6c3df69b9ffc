import { parseQuantity } from '../../api/quantity.ts';
import type { Volume, VolumeStatus } from '../../api/volume.ts';
import { parseJobName } from '../../model/job-name.ts';

/** End of populating a volume on its node: success, or the failure of one attempt. */
export interface FillEnded {
  result: 'success' | 'error';
  /** Time since the Volume was created. */
  ms: number;
  /** Size and class of the populated volume. */
  filled?: { bytes: bigint; storageClass: string };
}

/**
 * Returns the end of a population that a new status reports; undefined if none, or if it was
 * reported before. Pure.
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
  const failed = before?.phase !== 'Failed' && after.phase === 'Failed';
  return again || failed ? { result: 'error', ms } : undefined;
}
