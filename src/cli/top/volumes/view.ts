import { shortDuration } from '../../../api/age.ts';
import type { KubeNode } from '../../../api/core.ts';
import { VOLUMES } from '../../../api/resources.ts';
import type { ResourceView } from '../../lib/get/resource-view.ts';
import { reachNodes } from '../../lib/nodes/with-nodes.ts';
import { nameIn } from '../../lib/objects/name.ts';
import { largest, percentCell, sizeCell, UNKNOWN } from '../cells.ts';
import { showRows } from '../show-rows.ts';
import type { TopFlags } from '../top-flags.ts';
import { createGrowthTracker } from './growth.ts';
import { observeVolumes } from './observe.ts';
import type { VolumeRow } from './row.ts';

const name = (row: VolumeRow) => row.name;
const node = (row: VolumeRow) => row.node;

/** View of `stowage top volumes`: the use of volumes, as their nodes report it. */
export const TOP_VOLUME_VIEW: ResourceView<VolumeRow, TopFlags> = {
  plural: 'volumes',
  filters: ['selector', 'node'],
  columns: [
    ['NAME', name],
    ['NODE', node],
    ['SIZE', ({ sizeBytes }) => sizeCell(sizeBytes)],
    ['USED', ({ used }) => sizeCell(used?.bytes)],
    ['USE%', ({ used }) => percentCell(used?.percent)],
    ['INODES', ({ used }) => percentCell(used?.inodes?.percent)],
    ['ON-DISK', ({ onDiskBytes }) => sizeCell(onDiskBytes)],
    ['GROWTH/DAY', ({ growth }) => sizeCell(growth?.bytesPerDay), 'watch'],
    ['FULL-IN', fullIn, 'watch'],
    ['AVAILABLE', ({ used }) => sizeCell(used?.availableBytes), 'wide'],
    ['MEASURED', ({ used }) => used?.measured ?? UNKNOWN, 'wide'],
  ],
  keyOf: name,
  nameOf: (row) => nameIn(VOLUMES, name(row)),
  sort: {
    by: {
      name,
      node,
      size: ({ sizeBytes }) => largest(sizeBytes),
      used: ({ used }) => largest(used?.bytes),
      use: ({ used }) => largest(used?.percent),
      inodes: ({ used }) => largest(used?.inodes?.percent),
      'on-disk': ({ onDiskBytes }) => largest(onDiskBytes),
      growth: ({ growth }) => largest(growth?.bytesPerDay),
    },
    ties: [name],
    standard: 'name',
  },
  async get(request) {
    const { flags, io } = request;
    const found = new Map<string, KubeNode>();
    const growth = createGrowthTracker();
    await reachNodes(found, flags, io, (executor) =>
      showRows('volumes', request, () => observeVolumes(request, found, executor, growth)),
    );
  },
};

function fullIn({ growth }: VolumeRow): string {
  const { fullInSeconds } = growth ?? {};
  return fullInSeconds === undefined ? UNKNOWN : shortDuration(fullInSeconds);
}
