import type { Phase, Volume } from './volume.ts';

/**
 * Returns the phase of a Volume; undefined if unknown. MetalK8s writes only the condition, from
 * which this function computes the phase as MetalK8s does.
 */
export function phaseOf(volume: Volume): Phase | undefined {
  if (volume.status?.phase !== undefined) return volume.status.phase;
  const condition = volume.status?.conditions?.find(({ type }) => type === 'Ready');
  if (condition?.status === 'True') return 'Available';
  if (condition?.status === 'False') return 'Failed';
  const reason = condition?.reason;
  return reason === 'Pending' || reason === 'Terminating' ? reason : undefined;
}
