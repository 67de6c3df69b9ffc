import type { KubeNode } from '../../../api/core.ts';
import { isPaused } from '../../../api/paused.ts';
import { phaseOf } from '../../../api/phase.ts';
import type { Volume } from '../../../api/volume.ts';
import { addressOfNode, addressProblems } from '../../../model/node-address.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import type { NodeFlags } from './flags.ts';

export interface ProbedNode {
  reachable: boolean;
  /** Reason why the node is not reached, or its free space is unknown. */
  message?: string;
  /** Free space for backing files of volumes, in bytes. */
  free?: { directory: string; bytes: number };
}

/** Row of a node, as in docs/output.md. `message` also reports invalid annotations. */
export interface NodeRow extends ProbedNode {
  name: string;
  transport: NodeFlags['transport'];
  /** Address, if it is not the node's name. */
  address?: string;
  paused: boolean;
  volumes: { total: number; failed: number };
}

export function nodeRow(
  name: string,
  node: KubeNode | undefined,
  volumes: readonly Volume[],
  { transport, addresses }: NodeFlags,
  heard: ProbedNode,
): NodeRow {
  const there = volumes.filter((volume) => nodeOf(volume) === name);
  const { host } = transport === 'ssh' ? { ...addressOfNode(node), ...addresses.get(name) } : {};
  const messages = [
    ...(heard.message === undefined ? [] : [heard.message]),
    ...addressProblems(node).map(({ message }) => message),
  ];
  return {
    name,
    transport,
    ...(host === undefined ? {} : { address: host }),
    ...heard,
    ...(messages.length === 0 ? {} : { message: messages.join('; ') }),
    paused: node !== undefined && isPaused(node),
    volumes: {
      total: there.length,
      failed: there.filter((volume) => phaseOf(volume) === 'Failed').length,
    },
  };
}
