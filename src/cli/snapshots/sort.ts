import { parseQuantity } from '../../api/quantity.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import { phaseOf } from './state.ts';

export type SnapshotSortField = 'name' | 'age' | 'size' | 'phase';

const KEYS: Readonly<Record<SnapshotSortField, (snapshot: VolumeSnapshot) => string | bigint>> = {
  name: ({ metadata }) => metadata.name,
  // The youngest first.
  age: ({ metadata }) => -BigInt(Date.parse(metadata.creationTimestamp ?? '') || 0),
  size: ({ status }) => bytesOf(status?.restoreSize),
  phase: phaseOf,
};

/** Sorted by what a column shows, the smallest first, and those that are the same by name and namespace. */
export function sortSnapshots(
  snapshots: readonly VolumeSnapshot[],
  field: SnapshotSortField,
): VolumeSnapshot[] {
  const keys = [KEYS[field], KEYS.name, ({ metadata }: VolumeSnapshot) => metadata.namespace ?? ''];
  return snapshots.toSorted((a, b) =>
    keys.reduce((order, key) => order || compare(key(a), key(b)), 0),
  );
}

const compare = (a: string | bigint, b: string | bigint): number => (a < b ? -1 : Number(a > b));

/** What has no size, or none that can be read, comes first. */
function bytesOf(size: string | undefined): bigint {
  try {
    return parseQuantity(size ?? '');
  } catch {
    return -1n;
  }
}
