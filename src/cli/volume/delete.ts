import type { PersistentVolume } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { deletable } from '../../volumes/deletable.ts';
import { conclude } from '../batch.ts';
import type { GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import type { WaitFlags } from '../objects/flags.ts';
import { confirm } from '../prompts/confirm.ts';
import { isInteractive } from '../prompts/prompts.ts';
import { fullName } from './describe.ts';
import { forgetNode, forgettable, givenUp } from './forget-node.ts';
import { lostByDeletion } from './losses.ts';
import { untilGone } from './wait-gone.ts';

export interface DeleteFlags extends WaitFlags {
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
  conclude(await removeVolumes(names, flags, io, client), names.length, io, flags);
}

/** Deletes Volumes, each whatever becomes of the others, and returns why some were not. Throws a StowageError `conflict` without consent. */
export async function removeVolumes(
  names: readonly string[],
  flags: DeleteFlags,
  io: Io,
  client: KubeClient,
): Promise<unknown[]> {
  const errors: unknown[] = [];
  async function each<T, R>(things: readonly T[], work: (thing: T) => Promise<R>): Promise<R[]> {
    const results: R[] = [];
    for (const thing of things) {
      try {
        results.push(await work(thing));
      } catch (error) {
        if (io.signal.aborted) throw error;
        if (!(flags.ignoreNotFound && isNotFound(error))) errors.push(error);
      }
    }
    return results;
  }

  const leaving = flags.forgetNode ? await forgetEach() : await deleteEach();
  if (flags.wait) errors.push(...(await untilGone(leaving, flags.timeout, io, client)));
  else for (const { metadata } of leaving) io.stdout.write(`${fullName(metadata.name)} deleted\n`);
  return errors;

  async function forgetEach(): Promise<Volume[]> {
    const found = await each(names, (name) => forgettable(name, io, client));
    await confirm(io, { losses: found.map(givenUp), question: 'Delete it, and forget its node?' }, flags);
    return each(found, async (volume) => {
      await forgetNode(volume, io, client);
      return volume;
    });
  }

  async function deleteEach(): Promise<Volume[]> {
    let asked = false;
    const found = await each(names, (name) => deletableVolume(name, io, client));
    // Scripts, which nobody can answer for, go on as with kubectl: that is what deleting means.
    if (isInteractive(io)) {
      const losses = found.map(lostByDeletion).filter((loss) => loss !== undefined);
      await confirm(io, { losses, question: 'Delete it, and destroy that?' }, flags);
      asked = losses.length > 0 && !flags.yes;
    }
    return each(found, async (volume) => {
      const { name, uid } = volume.metadata;
      // A claim may have come while the question was there.
      if (asked) await deletableVolume(name, io, client);
      // Not another one that took its name since it was looked at.
      await client.delete(VOLUMES, name, { uid, signal: io.signal });
      return volume;
    });
  }
}

/** Throws a StowageError `conflict` when the Volume is in use or its state is not clear. */
async function deletableVolume(name: string, io: Io, client: KubeClient): Promise<Volume> {
  const volume = await client.get<Volume>(VOLUMES, name, { signal: io.signal });
  const verdict = deletable(volume, await pvNamed(name, io, client));
  if (!verdict.can) {
    throw new StowageError('conflict', `Volume ${name} cannot be deleted: ${verdict.why}`, verdict);
  }
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
