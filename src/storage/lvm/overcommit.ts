import type { DesiredLvm, ObservedLvm } from '../types.ts';

/**
 * Returns a note if the volumes of a thin pool exceed its size. Overcommitment is no error, but
 * their owners should know it.
 */
export function overcommitNote(desired: DesiredLvm, { volumes }: ObservedLvm): string[] {
  const pool = volumes.find(({ name, kind }) => name === desired.thinPool && kind === 't');
  if (pool === undefined) return [];
  const promised = volumes
    .filter(({ pool }) => pool === desired.thinPool)
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
  return promised <= pool.sizeBytes
    ? []
    : [
        `the thin pool ${desired.vgName}/${pool.name} has ${pool.sizeBytes} bytes, and its volumes have ${promised} in total`,
      ];
}
