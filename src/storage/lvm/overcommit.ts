import type { DesiredLvm, ObservedLvm } from '../types.ts';

/** Thin volumes may be promised more than there is. That is no fault, but their owners should know. */
export function overcommitNote(desired: DesiredLvm, { volumes }: ObservedLvm): string[] {
  const pool = volumes.find(({ name, kind }) => name === desired.thinPool && kind === 't');
  if (pool === undefined) return [];
  const promised = volumes
    .filter(({ pool }) => pool === desired.thinPool)
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
  return promised <= pool.sizeBytes
    ? []
    : [
        `the thin pool ${desired.vgName}/${pool.name} has promised ${promised} bytes to its volumes and has ${pool.sizeBytes}`,
      ];
}
