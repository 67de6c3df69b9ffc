import type { KubeNode } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import { NODES, VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import type { Executor } from '../../../nodes/job.ts';
import type { Observed } from '../../lib/get/observe-repeatedly.ts';
import type { GetFlags, GetRequest } from '../../lib/get/resource-view.ts';
import type { NodeFlags } from '../../lib/nodes/flags.ts';
import { listNodes } from '../../lib/nodes/list-nodes.ts';
import { type NodeRow, nodeRow } from '../../lib/nodes/node-row.ts';
import { probeNodes } from '../../lib/nodes/probe-nodes.ts';
import { printable } from '../../lib/output/printable.ts';

export interface GetNodesFlags extends GetFlags, NodeFlags {
  /** Timeout for each node, in ms. */
  timeout: number;
}

/** Returns the current requested nodes. Updates `found`, by which nodes are reached. */
export async function observeNodes(
  { names, flags, io, connection: { client } }: GetRequest<NodeRow, GetNodesFlags>,
  found: Map<string, KubeNode>,
  executor: Executor,
): Promise<Observed<NodeRow>> {
  const { selector } = flags;
  const nodes = await listNodes(client, selector, io.signal, (message) =>
    io.stderr.write(`note: not checked: ${printable(message)}\n`),
  );
  found.clear();
  for (const [name, node] of nodes) found.set(name, node);
  const { items: volumes } = await listAll<Volume>(client, VOLUMES, { signal: io.signal });
  // A Volume without a spec names no node.
  const named = volumes.map(nodeOf).filter((name) => name !== '');
  const known = new Set([...nodes.keys(), ...(selector === undefined ? named : [])]);
  const asked = names.length > 0 ? names : [...known];
  const heard = await probeNodes(executor, asked, flags.timeout, io.clock);
  const errors: unknown[] = [];
  const rows = asked.flatMap((name, index) => {
    const answer = heard[index] ?? { reachable: false };
    if (known.has(name) || answer.reachable) {
      return [nodeRow(name, nodes.get(name), volumes, flags, answer)];
    }
    errors.push(unknownNode(name, answer.message));
    return [];
  });
  return { rows, errors };
}

const unknownNode = (name: string, why = 'it does not answer') =>
  new StowageError(
    'not-found',
    `Node ${name} is not in the cluster, has no Volumes, and is not reached: ${why}`,
    {
      object: { kind: NODES.kind, name },
    },
  );
