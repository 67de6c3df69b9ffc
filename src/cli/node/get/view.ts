import type { KubeNode } from '../../../api/core.ts';
import { roundedSize } from '../../../api/rounded-size.ts';
import { observeRepeatedly } from '../../lib/get/observe-repeatedly.ts';
import type { ResourceView } from '../../lib/get/resource-view.ts';
import type { NodeRow } from '../../lib/nodes/node-row.ts';
import { reachNodes } from '../../lib/nodes/with-nodes.ts';
import { type GetNodesFlags, observeNodes } from './observe.ts';

/** Time (ms) between observations: no event reports that a node goes away or fills up. */
const OBSERVE_EVERY = 10_000;

const yes = (is: boolean) => (is ? 'yes' : 'no');
const name = (row: NodeRow) => row.name;

/** View of `stowage get nodes`: the requested nodes, else all Nodes and all nodes with Volumes. */
export const NODE_VIEW: ResourceView<NodeRow, GetNodesFlags> = {
  plural: 'nodes',
  filters: ['selector'],
  columns: [
    ['NAME', name],
    ['TRANSPORT', ({ transport }) => transport],
    ['REACHABLE', ({ reachable }) => yes(reachable)],
    ['FREE', ({ free }) => free && roundedSize(free.bytes)],
    ['VOLUMES', ({ volumes }) => String(volumes.total)],
    ['FAILED', ({ volumes }) => String(volumes.failed)],
    ['PAUSED', ({ paused }) => yes(paused)],
    ['ADDRESS', ({ address }) => address, 'wide'],
    ['DIRECTORY', ({ free }) => free?.directory, 'wide'],
    ['MESSAGE', ({ message }) => message, 'wide'],
  ],
  keyOf: name,
  nameOf: (row) => `node/${name(row)}`,
  sort: {
    by: {
      name,
      // The fullest first, after nodes whose free space is unknown.
      free: ({ free }) => free?.bytes ?? -1,
      volumes: ({ volumes }) => volumes.total,
    },
    ties: [name],
    standard: 'name',
  },
  async get(request) {
    const { flags, io } = request;
    const found = new Map<string, KubeNode>();
    await reachNodes(found, flags, io, async (executor) => {
      const observe = () => observeNodes(request, found, executor);
      if (flags.watch)
        return observeRepeatedly('nodes', OBSERVE_EVERY, observe, request.printer(), io);
      const { rows, errors } = await observe();
      request.show(rows, errors);
    });
  },
};
