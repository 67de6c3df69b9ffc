import type { KubeNode } from '../../api/core.ts';
import { NODES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../controllers/volume/desired-volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { hearNodes } from '../get-nodes/probe-nodes.ts';
import type { Heard } from '../get-nodes/row.ts';
import type { Io } from '../io.ts';
import { type Nodes, nodes as parseNodes } from '../node-pattern.ts';
import type { NodeFlags } from '../nodes/flags.ts';
import { reachNodes } from '../nodes/with-nodes.ts';
import { roundedSize } from '../output/size.ts';
import type { Choice, Prompts } from '../prompts/prompts.ts';
import { foundIn, reading } from '../volume/read-result.ts';

/** How long nodes are waited for, in ms. */
const HEAR_MS = 5000;

const QUESTION = 'Node that holds the storage:';
/** In place of a name: no node is called so. */
const OTHER = '';

/** Asks for a node, and shows of those that there are whether they are reached, and how much room they have now. */
export async function askNodes(
  prompts: Prompts,
  flags: NodeFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<Nodes> {
  const client = await connect();
  const { signal } = io;
  const found = foundIn(await reading(listAll<KubeNode>(client, NODES, { signal })))?.items ?? [];
  if (found.length > 0) {
    const choices = await choicesOf(found, flags, io, client);
    const answer = await prompts.select(QUESTION, [
      ...choices,
      { name: 'another one, or several', value: OTHER },
    ]);
    if (answer !== OTHER) return { names: [answer], many: false };
  }
  const question = found.length > 0 ? 'Nodes that hold it, such as n1 or n{1..4}:' : QUESTION;
  return parseNodes(await prompts.input(question, nodesProblem));
}

async function choicesOf(
  nodes: readonly KubeNode[],
  flags: NodeFlags,
  io: Io,
  client: KubeClient,
): Promise<Choice[]> {
  const { signal } = io;
  const volumes = foundIn(await reading(listAll<Volume>(client, VOLUMES, { signal })))?.items ?? [];
  const names = nodes.map(({ metadata }) => metadata.name);
  io.stderr.write(`Looking at ${names.length === 1 ? '1 node' : `${names.length} nodes`} …\n`);
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const heard = await reachNodes(byName, flags, io, (executor) =>
    hearNodes(executor, names, HEAR_MS, io.clock),
  );
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name, index) => {
    const count = volumes.filter((volume) => nodeOf(volume) === name).length;
    return { name: `${name.padEnd(width)}  ${told(heard[index], count)}`, value: name };
  });
}

function told(heard: Heard | undefined, volumes: number): string {
  const room = heard?.free && `${roundedSize(heard.free.bytes)} free in ${heard.free.directory}`;
  return [
    room ??
      (heard?.message && `${heard.reachable ? '' : 'not reached: '}${heard.message}`) ??
      'not reached',
    volumes === 1 ? '1 Volume' : `${volumes} Volumes`,
  ].join(', ');
}

export function nodesProblem(answer: string): string | undefined {
  try {
    parseNodes(answer);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
