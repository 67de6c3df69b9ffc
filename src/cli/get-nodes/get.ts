import type { KubeNode } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import { NODES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../controllers/volume/desired-volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Executor } from '../../nodes/job.ts';
import { conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import type { NodeFlags } from '../nodes/flags.ts';
import { reachNodes } from '../nodes/with-nodes.ts';
import { selected } from '../objects/selector.ts';
import { asJson, asYaml } from '../output/data.ts';
import { printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { foundIn, reading } from '../volume/read-result.ts';
import { hearNodes } from './probe-nodes.ts';
import { type NodeRow, nodeRow } from './row.ts';
import { nodeTable } from './table.ts';
import { watchNodes } from './watch.ts';

export interface GetNodesFlags extends NodeFlags {
  output?: 'json' | 'yaml' | 'name' | 'wide';
  selector?: string;
  sortBy?: NodeSortField;
  headers: boolean;
  watch?: boolean;
  /** ms, for each. */
  timeout: number;
}

const KEYS = {
  name: () => 0,
  // The fullest first, and before them those of which it is not known.
  free: ({ free }: NodeRow) => free?.bytes ?? -1,
  volumes: ({ volumes }: NodeRow) => volumes.total,
};
export type NodeSortField = keyof typeof KEYS;

/**
 * `stowage get nodes`: those that are asked for, else all that are Nodes or have Volumes; with --watch again and again, until
 * the signal, whose reason is thrown. Throws a StowageError.
 */
export async function getNodes(
  names: readonly string[],
  flags: GetNodesFlags & GlobalFlags,
  io: Io,
  client: KubeClient,
): Promise<void> {
  if (names.length > 0 && flags.selector !== undefined) {
    throw new StowageError('usage', 'Names and --selector cannot be given together');
  }
  const found = new Map<string, KubeNode>();
  await reachNodes(found, flags, io, async (executor) => {
    const look = () => lookAtNodes(names, found, executor, flags, io, client);
    if (flags.watch) return watchNodes(look, flags, io);
    const { rows, errors } = await look();
    print(rows, names.length, errors.length > 0, flags, io);
    conclude(errors, names.length, io);
  });
}

/** What there is now. Brings `found`, by which nodes are reached, up to date. */
async function lookAtNodes(
  names: readonly string[],
  found: Map<string, KubeNode>,
  executor: Executor,
  flags: GetNodesFlags,
  io: Io,
  client: KubeClient,
): Promise<{ rows: NodeRow[]; errors: unknown[] }> {
  const { selector, sortBy = 'name' } = flags;
  const nodes = await readNodes(selector, io, client);
  found.clear();
  for (const [name, node] of nodes) found.set(name, node);
  const { items: volumes } = await listAll<Volume>(client, VOLUMES, { signal: io.signal });
  // A Volume without a spec names none.
  const named = volumes.map(nodeOf).filter((name) => name !== '');
  const known = new Set([...nodes.keys(), ...(selector === undefined ? named : [])]);
  const asked = names.length > 0 ? names : [...known];
  const heard = await hearNodes(executor, asked, flags.timeout, io.clock);
  const errors: unknown[] = [];
  const rows = asked.flatMap((name, index) => {
    const answer = heard[index] ?? { reachable: false };
    if (known.has(name) || answer.reachable) {
      return [nodeRow(name, nodes.get(name), volumes, flags, answer)];
    }
    errors.push(unknownNode(name, answer.message));
    return [];
  });
  const key = KEYS[sortBy];
  return { rows: rows.toSorted((a, b) => key(a) - key(b) || (a.name < b.name ? -1 : 1)), errors };
}

/** By their names. Who may not read them still learns of those that have Volumes. */
async function readNodes(
  selector: string | undefined,
  io: Io,
  client: KubeClient,
): Promise<Map<string, KubeNode>> {
  const list = listAll<KubeNode>(client, NODES, { labelSelector: selector, signal: io.signal });
  const read = await reading(selected(selector, list));
  if ('forbidden' in read) {
    // What was selected is not known.
    if (selector !== undefined) throw new StowageError('forbidden', read.forbidden);
    io.stderr.write(`note: not looked at: ${printable(read.forbidden)}\n`);
  }
  return new Map((foundIn(read)?.items ?? []).map((node) => [node.metadata.name, node]));
}

const unknownNode = (name: string, why = 'it does not answer') =>
  new StowageError(
    'not-found',
    `Node ${name} is not in the cluster, has no Volumes, and is not reached: ${why}`,
    {
      object: { kind: NODES.kind, name },
    },
  );

function print(
  rows: readonly NodeRow[],
  asked: number,
  failed: boolean,
  { output, headers }: GetNodesFlags,
  io: Io,
): void {
  if (failed && rows.length === 0) return;
  const data = () => (asked === 1 && rows[0] !== undefined ? rows[0] : { items: rows });
  if (output === 'json') io.stdout.write(asJson(data()));
  else if (output === 'yaml') io.stdout.write(asYaml(data()));
  else if (rows.length === 0) io.stderr.write('No nodes found\n');
  else if (output === 'name')
    for (const { name } of rows) io.stdout.write(`node/${printable(name)}\n`);
  else {
    const wide = output === 'wide';
    const width = wide ? undefined : io.stdout.columns;
    io.stdout.write(table(...nodeTable(rows, wide), { headings: headers, width }));
  }
}
