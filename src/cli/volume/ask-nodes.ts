import type { KubeNode } from '../../api/core.ts';
import { NODES, VOLUMES } from '../../api/resources.ts';
import { roundedSize } from '../../api/rounded-size.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import type { ProbedNode } from '../lib/nodes/node-row.ts';
import { probeNodes } from '../lib/nodes/probe-nodes.ts';
import { reachNodes } from '../lib/nodes/with-nodes.ts';
import type { Choice } from '../lib/prompts/prompts.ts';
import { foundIn, reading } from '../lib/read-result.ts';
import { orOther } from '../lib/wizard/ask.ts';
import type { ClusterAccess } from '../lib/wizard/storage.ts';

/** Timeout for answers of nodes, in ms. */
const HEAR_MS = 5000;

const QUESTION = 'Node that holds the storage:';

export const NODE = {
  of: 'node',
  message: QUESTION,
  needed: true,
  choices: (_: unknown, access: ClusterAccess) => nodeChoices(access),
  typed: (offered: boolean) => (offered ? 'Nodes that hold it, such as n1 or n{1..4}:' : QUESTION),
} as const;

/** Returns the nodes of the cluster, with their reachability and their free space. */
async function nodeChoices({ io, connect, nodeFlags }: ClusterAccess): Promise<readonly Choice[]> {
  const client = await connect();
  const { signal } = io;
  const nodes = foundIn(await reading(listAll<KubeNode>(client, NODES, { signal })))?.items ?? [];
  if (nodes.length === 0) return [];
  const volumes = foundIn(await reading(listAll<Volume>(client, VOLUMES, { signal })))?.items ?? [];
  const names = nodes.map(({ metadata }) => metadata.name);
  io.stderr.write(`Checking ${names.length === 1 ? '1 node' : `${names.length} nodes`} …\n`);
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const heard = await reachNodes(byName, await nodeFlags(), io, (executor) =>
    probeNodes(executor, names, HEAR_MS, io.clock),
  );
  const width = Math.max(...names.map((name) => name.length));
  const choices = names.map((name, index) => {
    const count = volumes.filter((volume) => nodeOf(volume) === name).length;
    return { name: `${name.padEnd(width)}  ${nodeSummary(heard[index], count)}`, value: name };
  });
  return orOther(choices, 'another one, or several');
}

function nodeSummary(heard: ProbedNode | undefined, volumes: number): string {
  const room = heard?.free && `${roundedSize(heard.free.bytes)} free in ${heard.free.directory}`;
  return [
    room ?? heard?.message ?? 'unreachable',
    volumes === 1 ? '1 Volume' : `${volumes} Volumes`,
  ].join(', ');
}
