import { phaseOf } from '../../../api/phase.ts';
import type { Condition, Volume } from '../../../api/volume.ts';

export const readyOf = (volume: Volume): Condition | undefined =>
  volume.status?.conditions?.find(({ type }) => type === 'Ready');

export function progressOf(volume: Volume): string {
  const phase = phaseOf(volume) ?? 'Unknown';
  const { reason, message } = readyOf(volume) ?? {};
  const paused = volume.status?.conditions?.find(
    ({ type, status }) => type === 'Paused' && status === 'True',
  );
  const parts = [phase, volume.status?.job, reason === phase ? undefined : reason].filter(Boolean);
  if (paused !== undefined) return `${parts.join(', ')}, paused: ${paused.message}`;
  return message ? `${parts.join(', ')}: ${message}` : parts.join(', ');
}
