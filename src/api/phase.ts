import type { Phase, Volume } from './volume.ts';

/**
 * How far a Volume is; undefined when that is not known. Volumes that MetalK8s wrote have no phase in their status but
 * only the condition, from which MetalK8s computes it like this.
 */
export function phaseOf(volume: Volume): Phase | undefined {
  if (volume.status?.phase !== undefined) return volume.status.phase;
  const condition = volume.status?.conditions?.find(({ type }) => type === 'Ready');
  if (condition?.status === 'True') return 'Available';
  if (condition?.status === 'False') return 'Failed';
  const reason = condition?.reason;
  return reason === 'Pending' || reason === 'Terminating' ? reason : undefined;
}
