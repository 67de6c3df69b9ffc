import type { KubeNode } from '../../../api/core.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import type { Executor } from '../../../nodes/job.ts';
import { readObjects, selectionOf } from '../../lib/get/get-objects.ts';
import type { Observed } from '../../lib/get/observe-repeatedly.ts';
import type { GetRequest } from '../../lib/get/resource-view.ts';
import { listNodes } from '../../lib/nodes/list-nodes.ts';
import type { Gap } from '../gaps.ts';
import type { TopFlags } from '../top-flags.ts';
import type { GrowthTracker } from './growth.ts';
import { measureOnDisk } from './measure-on-disk.ts';
import { measureUsed } from './measure-used.ts';
import { sizeBytesOf, usedOf, type VolumeRow } from './row.ts';

/**
 * Returns the present use of the requested Volumes, and the figures that are unknown. Updates
 * `found`, by which nodes are reached.
 */
export async function observeVolumes(
  request: Pick<GetRequest<VolumeRow, TopFlags>, 'names' | 'flags' | 'connection' | 'io'>,
  found: Map<string, KubeNode>,
  executor: Executor,
  growth: GrowthTracker,
): Promise<Observed<VolumeRow> & { gaps: Gap[] }> {
  const { names, flags, connection, io } = request;
  const isWanted = (volume: Volume) =>
    flags.node === undefined || flags.node.includes(nodeOf(volume));
  const selection = selectionOf<Volume>(request, { resource: VOLUMES, isWanted });
  const { objects, errors } = await readObjects(selection, io);
  const gaps: Gap[] = [];
  const nodes = await listNodes(connection.client, undefined, io.signal, (why) =>
    gaps.push({ column: 'ADDRESS', name: 'all nodes', why }),
  );
  found.clear();
  for (const [name, node] of nodes) found.set(name, node);
  const [mounted, occupied] = await Promise.all([
    measureUsed(objects, names.length > 0, flags.timeout, connection, io),
    measureOnDisk(objects, nodes, flags.timeout, executor, io),
  ]);
  const rows = objects.map((volume): VolumeRow => {
    const { name, uid = '' } = volume.metadata;
    const stats = mounted.used.get(volume);
    const used = stats && usedOf(stats);
    const sizeBytes = sizeBytesOf(volume);
    const onDiskBytes = occupied.onDisk.get(volume);
    const grows = stats && used && growth.add(uid, { ...stats, ...used });
    return {
      ...{ name, uid, node: nodeOf(volume) },
      ...(sizeBytes !== undefined && { sizeBytes }),
      ...(used && { used }),
      ...(onDiskBytes !== undefined && { onDiskBytes }),
      ...(grows && { growth: grows }),
    };
  });
  return { rows, errors, gaps: [...gaps, ...mounted.gaps, ...occupied.gaps] };
}
