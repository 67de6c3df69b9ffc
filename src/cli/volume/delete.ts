import type { PersistentVolume } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { waitFor } from '../../kube/wait.ts';
import { deletable } from '../../volumes/deletable.ts';
import { conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { showProgress } from '../output/progress.ts';
import { confirm } from '../prompts/confirm.ts';
import { fullName, progressOf, readyOf } from './describe.ts';
import { forgetNode, forgettable, givenUp } from './forget-node.ts';

export interface DeleteFlags {
  wait?: boolean;
  /** ms */
  timeout: number;
  ignoreNotFound?: boolean;
  forgetNode?: boolean;
  yes?: boolean;
}

/** `stowage delete volume`. Throws a StowageError. */
export async function remove(
  names: readonly string[],
  flags: DeleteFlags & GlobalFlags,
  io: Io,
  client: KubeClient,
): Promise<void> {
  const errors: unknown[] = [];
  async function each<T>(things: readonly T[], work: (thing: T) => Promise<Volume>): Promise<Volume[]> {
    const volumes: Volume[] = [];
    for (const thing of things) {
      try {
        volumes.push(await work(thing));
      } catch (error) {
        if (io.signal.aborted) throw error;
        if (!(flags.ignoreNotFound && isNotFound(error))) errors.push(error);
      }
    }
    return volumes;
  }

  let leaving: Volume[];
  if (flags.forgetNode) {
    const found = await each(names, (name) => forgettable(name, io, client));
    await confirm(io, { losses: found.map(givenUp), question: 'Delete it, and forget its node?' }, flags);
    leaving = await each(found, async (volume) => {
      await forgetNode(volume, io, client);
      return volume;
    });
  } else {
    leaving = await each(names, (name) => requestDeletion(name, io, client));
  }
  if (flags.wait) errors.push(...(await untilGone(leaving, flags, io, client)));
  else for (const { metadata } of leaving) io.stdout.write(`${fullName(metadata.name)} deleted\n`);
  conclude(errors, names.length, io, flags);
}

/** Throws a StowageError `conflict` when the Volume is in use or its state is not clear. */
async function requestDeletion(name: string, io: Io, client: KubeClient): Promise<Volume> {
  const { signal } = io;
  const volume = await client.get<Volume>(VOLUMES, name, { signal });
  const verdict = deletable(volume, await pvNamed(name, io, client));
  if (!verdict.can) {
    throw new StowageError('conflict', `Volume ${name} cannot be deleted: ${verdict.why}`, verdict);
  }
  const { uid } = volume.metadata;
  // Not another one that took its name since it was looked at.
  await client.delete(VOLUMES, name, { uid, signal });
  return volume;
}

async function pvNamed(
  name: string,
  { signal }: Io,
  client: KubeClient,
): Promise<PersistentVolume | undefined> {
  try {
    return await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Prints those that went, and returns why others did not. */
async function untilGone(
  volumes: readonly Volume[],
  flags: DeleteFlags & GlobalFlags,
  io: Io,
  client: KubeClient,
): Promise<unknown[]> {
  const outcomes = await showProgress(
    io,
    volumes.map(({ metadata: { name, uid } }) => ({
      title: name,
      run: async (tell: (state: string) => void) => {
        await waitFor<Volume>(client, VOLUMES, name, {
          until: (volume) => isGone(name, uid, volume),
          timeoutMs: flags.timeout,
          onChange: (volume) => tell(volume === undefined ? 'gone' : progressOf(volume)),
          signal: io.signal,
          clock: io.clock,
        });
        return name;
      },
    })),
  );
  const errors: unknown[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') errors.push(outcome.reason);
    else io.stdout.write(`${fullName(outcome.value)} deleted\n`);
  }
  return errors;
}

/** Throws a StowageError when its storage could not be removed. */
function isGone(name: string, uid: string | undefined, volume: Volume | undefined): boolean {
  if (volume === undefined || volume.metadata.uid !== uid) return true;
  const ready = readyOf(volume);
  if (ready?.status === 'False' && ready.reason === 'DestructionError') {
    throw new StowageError('failed', `Volume ${name} could not be removed: ${ready.message}`);
  }
  return false;
}
