import { phaseOf } from '../../api/phase.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../controllers/volume/desired-volume.ts';

export type SortField = 'name' | 'node' | 'age' | 'capacity' | 'phase';

const KEYS: Readonly<Record<SortField, (volume: Volume) => string | bigint>> = {
  name: ({ metadata }) => metadata.name,
  node: nodeOf,
  // The youngest first.
  age: ({ metadata }) => -BigInt(Date.parse(metadata.creationTimestamp ?? '') || 0),
  capacity: ({ status }) => bytesOf(status?.capacity),
  phase: (volume) => phaseOf(volume) ?? 'Unknown',
};

/** Sorted by what a column shows, the smallest first, and those that are the same by name. */
export function sortVolumes(volumes: readonly Volume[], field: SortField): Volume[] {
  const key = KEYS[field];
  return volumes.toSorted(
    (a, b) => compare(key(a), key(b)) || compare(a.metadata.name, b.metadata.name),
  );
}

const compare = (a: string | bigint, b: string | bigint): number => (a < b ? -1 : Number(a > b));

/** What has no capacity, or none that can be read, comes first. */
function bytesOf(capacity: string | undefined): bigint {
  try {
    return parseQuantity(capacity ?? '');
  } catch {
    return -1n;
  }
}
