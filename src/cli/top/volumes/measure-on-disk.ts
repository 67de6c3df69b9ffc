import type { KubeNode } from '../../../api/core.ts';
import type { Volume } from '../../../api/volume.ts';
import { workNode } from '../../../model/volume-nodes.ts';
import type { Executor } from '../../../nodes/job.ts';
import { driverOfSpec } from '../../../storage/registry.ts';
import type { Io } from '../../lib/io.ts';
import type { Gap } from '../gaps.ts';
import { measurePlaces } from '../measure-places.ts';
import { type Place, placeName, placeOf, placesOf } from '../storage-place.ts';
import { sizeBytesOf } from './row.ts';

/**
 * Measures what volumes occupy. Nodes are asked for files and thin volumes; disks and other logical
 * volumes have all of their size.
 * @param nodes Nodes by name
 */
export async function measureOnDisk(
  volumes: readonly Volume[],
  nodes: ReadonlyMap<string, KubeNode>,
  timeoutMs: number,
  executor: Pick<Executor, 'observe'>,
  { clock }: Pick<Io, 'clock'>,
): Promise<{ onDisk: Map<Volume, number>; gaps: Gap[] }> {
  const onDisk = new Map<Volume, number>();
  const gaps: Gap[] = [];
  const gap = (volume: Volume, why: string, cause = why) =>
    gaps.push({ column: 'ON-DISK', name: volume.metadata.name, why, cause });
  const thereOf = (volume: Volume) => workNode(volume, (name) => nodes.get(name));

  const asked: [Volume, Place][] = [];
  for (const volume of volumes) {
    const { spec, status } = volume;
    const place = placeOf(volume);
    const size = sizeBytesOf(volume);
    const isDisk = driverOfSpec(spec).pool === undefined;
    if (status?.prepared === undefined) gap(volume, 'it is not provisioned yet');
    else if (place === undefined && !isDisk) gap(volume, 'its object names no valid storage');
    else if (place !== undefined && takesLess(place)) asked.push([volume, place]);
    else if (size !== undefined) onDisk.set(volume, size);
  }
  const byNode = Map.groupBy(
    asked.map(([volume]) => volume),
    thereOf,
  );
  const wanted = new Map([...byNode].map(([node, there]) => [node, placesOf(there)]));
  const observed = await measurePlaces(executor, wanted, timeoutMs, clock);
  for (const [volume, place] of asked) {
    const node = thereOf(volume);
    const answer = observed.get(node)?.get(placeName(place));
    if (answer === undefined || 'why' in answer) {
      gap(volume, answer?.why ?? 'its node was not asked', `node ${node}`);
      continue;
    }
    const bytes = answer.onDiskOf(volume);
    if (bytes === undefined) gap(volume, `node ${node} does not report it in ${placeName(place)}`);
    else onDisk.set(volume, bytes);
  }
  return { onDisk, gaps };
}

/** Reports whether volumes there may occupy less than their size. */
const takesLess = (place: Place): boolean =>
  place.type === 'sparse' || place.thinPool !== undefined;
