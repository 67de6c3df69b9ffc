import type { KubeNode } from '../../../api/core.ts';
import { NODES } from '../../../api/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Executor } from '../../../nodes/job.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';
import { foundIn, readNamed } from '../read-result.ts';
import type { NodeFlags } from './flags.ts';

/**
 * Runs work on nodes, and then always closes the executor. A signal ends the wait at once. A node
 * without a readable object is reached under its name. Throws errors of `work`.
 */
export async function withNodes<T>(
  names: readonly string[],
  flags: NodeFlags,
  io: Io,
  client: KubeClient,
  work: (executor: Executor) => Promise<T>,
): Promise<T> {
  const found = await readNodes(flags.transport === 'local' ? [] : names, io, client);
  return reachNodes(found, flags, io, work);
}

/** Reads Nodes by name. A note reports a Node that may not be read. */
export async function readNodes(
  names: readonly string[],
  io: Io,
  client: KubeClient,
): Promise<Map<string, KubeNode>> {
  const found = new Map<string, KubeNode>();
  for (const name of names) {
    const read = await readNamed<KubeNode>(client, NODES, name, { signal: io.signal });
    const node = foundIn(read);
    if (node !== undefined) found.set(name, node);
    if ('forbidden' in read) io.stderr.write(`note: not checked: ${printable(read.forbidden)}\n`);
  }
  return found;
}

/** Same as `withNodes`, with Nodes that were read already, by name. */
export async function reachNodes<T>(
  found: ReadonlyMap<string, KubeNode>,
  { transport, localNode, sshConfig, sshGuard, salt, addresses, minions }: NodeFlags,
  io: Io,
  work: (executor: Executor) => Promise<T>,
): Promise<T> {
  const executor = await io.nodes({
    transport,
    localNodes: localNode,
    ...(sshConfig === undefined ? {} : { sshConfig }),
    ...(sshGuard === undefined ? {} : { sshGuard }),
    ...(salt === undefined ? {} : { salt }),
    nodeNamed: (name) => found.get(name),
    addressOf: (name) => addresses.get(name) ?? {},
    minionOf: (name) => minions.get(name),
    clock: io.clock,
  });
  try {
    return await Promise.race([work(executor), aborted(io.signal)]);
  } finally {
    await executor.close();
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
  });
