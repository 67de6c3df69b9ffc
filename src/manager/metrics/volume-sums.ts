import { phaseOf } from '../../api/phase.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { driverOfSpec } from '../../storage/registry.ts';
import type { SeenSpace } from './volume-space.ts';

export const PHASES = ['Pending', 'Available', 'Failed', 'Terminating', 'Unknown'] as const;
type Counted = (typeof PHASES)[number];

interface NodeDirectory {
  node: string;
  /** Directory, volume group or thin pool; '' for raw devices. */
  directory: string;
}

const placeKey = ({ node, directory }: NodeDirectory) => `${node}\n${directory}`;

export function countPhases(volumes: readonly Volume[]): Map<Counted, number> {
  const counts = new Map<Counted, number>();
  for (const volume of volumes) {
    const phase = phaseOf(volume);
    // Anyone who may write a status can write any text there.
    const counted = PHASES.find((known) => known === phase) ?? 'Unknown';
    counts.set(counted, (counts.get(counted) ?? 0) + 1);
  }
  return counts;
}

export function sumSizes(volumes: readonly Volume[]): (NodeDirectory & { bytes: number })[] {
  const sums = new Map<string, NodeDirectory & { bytes: number }>();
  for (const volume of volumes) {
    const bytes = capacityOf(volume);
    if (bytes === undefined) continue;
    const place = { node: nodeOf(volume), directory: directoryOf(volume) };
    const sum = sums.get(placeKey(place)) ?? { ...place, bytes: 0 };
    sum.bytes += bytes;
    sums.set(placeKey(place), sum);
  }
  return [...sums.values()];
}

const directoryOf = ({ spec, status }: Volume): string =>
  driverOfSpec(spec).pool?.(spec, status?.prepared?.paths[0]) ?? '';

/** Returns the measured capacity; undefined if there is none. */
function capacityOf({ status }: Volume): number | undefined {
  if (status?.capacity === undefined) return undefined;
  try {
    return Number(parseQuantity(status.capacity));
  } catch {
    return undefined;
  }
}

export interface DirectorySum extends NodeDirectory {
  freeBytes: number | undefined;
  allocatedBytes: number;
}

/**
 * Sums the allocated space by directory. The free space is that of the latest observation, of any
 * Volume.
 */
export function sumDirectories(seen: Iterable<SeenSpace>): DirectorySum[] {
  const sums = new Map<string, DirectorySum & { at: number }>();
  for (const { node, space, at } of seen) {
    const { directory, freeBytes, allocatedBytes } = space;
    const place = { node, directory };
    const sum = sums.get(placeKey(place)) ?? {
      ...place,
      at: 0,
      allocatedBytes: 0,
      freeBytes: undefined,
    };
    sum.allocatedBytes += Number(allocatedBytes);
    if (at >= sum.at) {
      sum.at = at;
      sum.freeBytes = freeBytes === undefined ? undefined : Number(freeBytes);
    }
    sums.set(placeKey(place), sum);
  }
  return [...sums.values()];
}
