import type { KubeNode, StorageClass } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import { OUT_OF_SERVICE_TAINT } from '../../../api/names.ts';
import { NODES, STORAGE_CLASSES, VOLUMES } from '../../../api/resources.ts';
import type { Attachment, Volume } from '../../../api/volume.ts';
import { maxWaitOf } from '../../../controllers/attachdetach/max-wait.ts';
import { isNotFound } from '../../../kube/errors.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { waitFor } from '../../../kube/wait.ts';
import { judgeNode } from '../../../model/node-death.ts';
import { notReadyAgeBy } from '../../../model/node-health.ts';
import { commandLine } from '../../lib/command-line.ts';
import type { GlobalFlags } from '../../lib/globals.ts';
import type { Io } from '../../lib/io.ts';
import { readMaxWait } from '../../lib/leaders.ts';
import { printDone } from '../../lib/objects/print.ts';
import { printable } from '../../lib/output/printable.ts';
import { showProgress } from '../../lib/output/progress.ts';
import { confirm } from '../../lib/prompts/confirm.ts';
import { foundIn, readNamed } from '../../lib/read-result.ts';
import { heldBy } from './detach-blockers.ts';
import { forceDetach, isRecorded } from './force.ts';

export interface DetachFlags {
  node: string;
  force?: boolean;
  yes?: boolean;
  /** ms */
  timeout: number;
  output?: 'json' | 'yaml' | 'name';
}

/**
 * Runs `stowage detach volume`: waits until the daemon has detached the Volume from a node, or
 * force-detaches it from a node known to be dead. Throws a StowageError: `not-found` if it is not
 * attached there, `conflict` if it stays attached.
 */
export async function detach(
  name: string,
  flags: DetachFlags & GlobalFlags,
  io: Io,
  client: KubeClient,
): Promise<void> {
  const { node, output } = flags;
  const volume = await client.get<Volume>(VOLUMES, name, { signal: io.signal });
  if (flags.force) {
    const left = await forced(volume, flags, io, client);
    printDone([left], false, `force-detached from ${node}`, output, io);
    return;
  }
  const entry = entryOn(volume, node);
  if (entry === undefined) throw notAttached(volume, node);
  const held = heldBy(volume, entry, foundIn(await readNode(node, io, client)));
  if (held !== undefined) throw staysAttached(name, node, held);
  printDone(
    [await untilDetached(volume, flags, io, client)],
    false,
    `detached from ${node}`,
    output,
    io,
  );
}

const entryOn = (volume: Volume | undefined, node: string): Attachment | undefined =>
  volume?.status?.attachments?.find((each) => each.node === node);

function notAttached(volume: Volume, node: string): StowageError {
  const { name } = volume.metadata;
  const others = (volume.status?.attachments ?? []).map((each) => `${each.node} (${each.state})`);
  return new StowageError('not-found', `Volume ${name} is not attached to node ${node}`, {
    hint:
      others.length === 0
        ? 'It is not attached to any node.'
        : `It is attached to ${others.join(', ')}.`,
    object: { kind: VOLUMES.kind, name },
  });
}

const staysAttached = (name: string, node: string, { why, hint }: { why: string; hint: string }) =>
  new StowageError('conflict', `Volume ${name} stays attached to node ${node}: ${why}`, {
    hint,
    object: { kind: VOLUMES.kind, name },
  });

const readNode = (name: string, { signal }: Io, client: KubeClient) =>
  readNamed<KubeNode>(client, NODES, name, { signal });

/** Returns the detached Volume, or its last known state if it was deleted. */
async function untilDetached(
  volume: Volume,
  { node, timeout }: DetachFlags,
  io: Io,
  client: KubeClient,
): Promise<Volume> {
  const { name, uid } = volume.metadata;
  let last = volume;
  const run = async (report: (state: string) => void) => {
    const until = (now: Volume | undefined) => {
      if (now === undefined || now.metadata.uid !== uid) return true;
      last = now;
      const entry = entryOn(now, node);
      if (entry === undefined) return true;
      report(textOf(entry));
      // A pod may need the Volume by now.
      const held = heldBy(now, entry, undefined);
      if (held !== undefined) throw staysAttached(name, node, held);
      return false;
    };
    await waitFor<Volume>(client, VOLUMES, name, {
      until,
      timeoutMs: timeout,
      signal: io.signal,
      clock: io.clock,
    });
  };
  const [outcome] = await showProgress(io, [{ title: name, run }]);
  if (outcome?.status !== 'rejected') return last;
  const entry = entryOn(last, node);
  const { reason } = outcome;
  if (!(reason instanceof StowageError) || reason.code !== 'timeout' || entry === undefined)
    throw reason;
  throw new StowageError(
    'timeout',
    `Volume ${name} is still attached to node ${node} after ${timeout / 1000} s: ${textOf(entry)}`,
    {
      hint: `The daemon continues it. Find out what holds it up: ${commandLine('stowage', 'why', 'volume', name)}`,
      object: { kind: VOLUMES.kind, name },
      cause: reason,
    },
  );
}

const textOf = ({ state, message }: Attachment): string =>
  message ? `${state}: ${message}` : state;

/** Returns the maximum wait, in ms: the setting of the Volume's class precedes the daemon's. */
async function maxWaitFor({ spec }: Volume, { signal }: Io, client: KubeClient): Promise<number> {
  const read = await readNamed<StorageClass>(client, STORAGE_CLASSES, spec.storageClassName, {
    signal,
  });
  return maxWaitOf(foundIn(read), await readMaxWait(client, signal));
}

async function forced(
  volume: Volume,
  { node, yes }: DetachFlags,
  io: Io,
  client: KubeClient,
): Promise<Volume> {
  const { name } = volume.metadata;
  const entry = entryOn(volume, node);
  const recorded = await isRecorded(volume, node, io, client);
  if (entry === undefined && !recorded) throw notAttached(volume, node);
  const kubeNode = await client
    .get<KubeNode>(NODES, node, { signal: io.signal })
    .catch(unlessMissing);
  const notReadyMs = kubeNode && notReadyAgeBy(client)(kubeNode);
  const maxWaitMs = await maxWaitFor(volume, io, client);
  const verdict = judgeNode(node, kubeNode, volume, notReadyMs, maxWaitMs);
  if ('alive' in verdict) {
    throw new StowageError(
      'conflict',
      `Volume ${name} is not force-detached from node ${node}: ${verdict.alive}`,
      { hint: verdict.hint, object: { kind: VOLUMES.kind, name } },
    );
  }
  if (verdict.mayRun) {
    const losses = [
      `Volume ${name}: ${verdict.dead}. If the machine still runs, two nodes write to one file, and its data is lost`,
    ];
    const refusal = 'It is not confirmed that the machine is off';
    await confirm(io, { losses, question: 'Is the machine off?', refusal }, yes ? { yes } : {});
  }
  const left = await forceDetach(volume, node, { why: verdict.dead, recorded }, io, client);
  const note = (text: string) => void io.stderr.write(`note: ${printable(text)}\n`);
  note(
    `${verdict.dead}. The device may still exist until the node boots; when the node returns, the daemon verifies it and removes what is left`,
  );
  if (verdict.mayRun) {
    note(
      `node ${node} still holds the file itself: another node takes it over once a Node ${node} exists, created by hand if necessary, that is not Ready and has the taint ${OUT_OF_SERVICE_TAINT}`,
    );
  }
  const pods = entry?.pods ?? [];
  if (pods.length > 0) {
    note(
      `these pods are still assigned to node ${node}, where the Volume will be attached again: ${pods.join(', ')}`,
    );
  }
  return left;
}

/** Ignores a missing Node, and throws other errors: a refusal does not prove absence. */
function unlessMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
