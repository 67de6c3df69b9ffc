import type { KubeNode } from '../../../api/core.ts';
import type { ResourceView } from '../../lib/get/resource-view.ts';
import { reachNodes } from '../../lib/nodes/with-nodes.ts';
import { largest, percentCell, sizeCell } from '../cells.ts';
import { showRows } from '../show-rows.ts';
import type { TopFlags } from '../top-flags.ts';
import { observeSpace } from './observe.ts';
import type { PlaceRow } from './row.ts';

const node = (row: PlaceRow) => row.node;
const storage = (row: PlaceRow) => row.storage;
/** Returns a name like that of a part of the Node: no such object exists. */
const placeName = (row: PlaceRow) => `node/${row.node}${row.storage}`;

/** Returns the promised part of the size: above 100 %, not all Volumes can become full. */
const promisedPart = ({ sizeBytes, promisedBytes }: PlaceRow): string =>
  percentCell(sizeBytes ? Math.ceil((promisedBytes / sizeBytes) * 100) : undefined);

/** View of `stowage top nodes`: the space of directories, volume groups and thin pools. */
export const TOP_NODE_VIEW: ResourceView<PlaceRow, TopFlags> = {
  plural: 'nodes',
  filters: ['selector'],
  columns: [
    ['NAME', node],
    ['STORAGE', storage],
    ['SIZE', ({ sizeBytes }) => sizeCell(sizeBytes)],
    ['USED', ({ usedBytes }) => sizeCell(usedBytes)],
    ['FREE', ({ freeBytes }) => sizeCell(freeBytes)],
    ['VOLUMES', ({ volumes }) => String(volumes)],
    ['PROMISED', ({ promisedBytes }) => sizeCell(promisedBytes)],
    ['ON-DISK', ({ onDiskBytes }) => sizeCell(onDiskBytes), 'wide'],
    ['PROMISED%', promisedPart, 'wide'],
  ],
  keyOf: placeName,
  nameOf: placeName,
  sort: {
    by: {
      name: node,
      size: ({ sizeBytes }) => largest(sizeBytes),
      used: ({ usedBytes }) => largest(usedBytes),
      free: ({ freeBytes }) => largest(freeBytes),
      volumes: ({ volumes }) => largest(volumes),
      promised: ({ promisedBytes }) => largest(promisedBytes),
    },
    ties: [node, storage],
    standard: 'name',
  },
  alwaysList: true,
  async get(request) {
    const { flags, io } = request;
    const found = new Map<string, KubeNode>();
    await reachNodes(found, flags, io, (executor) =>
      showRows('nodes', request, () => observeSpace(request, found, executor)),
    );
  },
};
