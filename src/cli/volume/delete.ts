import type { PersistentVolume } from '../../api/core.ts';
import { StowageError } from '../../api/errors.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { deletable } from '../../controllers/volume/deletable.ts';
import { ignoreNotFound, isNotFound } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { about, conclude } from '../lib/batch.ts';
import type { GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { type ChoiceFlags, requireOneWay } from '../lib/objects/choose.ts';
import type { WaitFlags } from '../lib/objects/flags.ts';
import { printChosen, printDone } from '../lib/objects/print.ts';
import { printable } from '../lib/output/printable.ts';
import { confirm } from '../lib/prompts/confirm.ts';
import { isInteractive } from '../lib/prompts/interactive.ts';
import { chosenVolumes, VOLUME_CHOICE } from './choose.ts';
import { keptByDeletion, lostByDeletion } from './data-loss.ts';
import { forgetNode, forgettable, lostByForgetting } from './forget-node.ts';
import { untilGone } from './wait-gone.ts';

export interface DeleteFlags extends WaitFlags, ChoiceFlags {
  ignoreNotFound?: boolean;
  forgetNode?: boolean;
  yes?: boolean;
  output?: 'json' | 'yaml' | 'name';
}

/**
 * Runs `stowage delete volume`. Calls `connect` only for correct usage. Throws a StowageError.
 */
export async function remove(
  names: readonly string[],
  flags: DeleteFlags & GlobalFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  const { selector, forgetNode } = flags;
  requireOneWay('delete', VOLUME_CHOICE, names, flags);
  if (names.length === 0 && forgetNode) {
    throw new StowageError('usage', '--forget-node needs names, since it abandons data', {
      hint: 'For example: stowage delete volume data1 --forget-node',
    });
  }
  const client = await connect();
  if (names.length > 0) {
    const { removed, errors } = await removeVolumes(names, flags, io, client);
    printDone(removed, names.length > 1, 'deleted', flags.output, io);
    return conclude(errors, names.length, io);
  }
  const listed = await chosenVolumes(selector, io, client);
  const chosen = listed.filter((volume) => !isGoing(volume));
  const uids = new Map(chosen.map(({ metadata }) => [metadata.name, metadata.uid]));
  // Others may delete what was listed: it is gone either way.
  const asked = { ...flags, ignoreNotFound: true };
  const { removed, errors } = await removeVolumes([...uids.keys()], asked, io, client, uids);
  const going = flags.wait ? listed.filter(isGoing) : [];
  errors.push(...(await untilGone(going, flags.timeout, io, client)).errors);
  printChosen(removed, 'deleted', flags.output, io);
  conclude(errors, listed.length, io);
}

/**
 * Deletes Volumes, each independently of the others. Returns those deleted, in their earlier state,
 * and the errors of the others. Throws a StowageError `conflict` without consent.
 * @param uids UIDs that Volumes must still have, by name
 */
export async function removeVolumes(
  names: readonly string[],
  flags: DeleteFlags,
  io: Io,
  client: KubeClient,
  uids: ReadonlyMap<string, string | undefined> = new Map(),
): Promise<{ removed: Volume[]; errors: unknown[] }> {
  const errors: unknown[] = [];
  async function each<T>(
    things: readonly T[],
    nameOf: (thing: T) => string,
    work: (thing: T) => Promise<Volume>,
  ): Promise<Volume[]> {
    const results: Volume[] = [];
    for (const thing of things) {
      try {
        results.push(await work(thing));
      } catch (error) {
        if (io.signal.aborted) throw error;
        const object = { kind: VOLUMES.kind, name: nameOf(thing) };
        if (!(flags.ignoreNotFound && isNotFound(error))) errors.push(about(error, object));
      }
    }
    return results;
  }
  const eachNamed = (work: (name: string) => Promise<Volume>) => each(names, (name) => name, work);
  const eachOf = (volumes: readonly Volume[], work: (volume: Volume) => Promise<Volume>) =>
    each(volumes, ({ metadata }) => metadata.name, work);

  const leaving = flags.forgetNode ? await forgetEach() : await deleteEach();
  if (!flags.wait) return { removed: leaving, errors };
  const waited = await untilGone(leaving, flags.timeout, io, client);
  return { removed: waited.gone, errors: [...errors, ...waited.errors] };

  async function forgetEach(): Promise<Volume[]> {
    const found = await eachNamed((name) => forgettable(name, io, client));
    await confirm(
      io,
      { losses: found.map(lostByForgetting), question: 'Delete, without waiting for the node?' },
      flags,
    );
    return eachOf(found, async (volume) => {
      await forgetNode(volume, io, client);
      return volume;
    });
  }

  async function deleteEach(): Promise<Volume[]> {
    let asked = false;
    const found = await eachNamed((name) => deletableVolume(name, uids.get(name), io, client));
    // Scripts cannot answer: deletion proceeds as with kubectl.
    if (isInteractive(io)) {
      const losses = found
        .filter((volume) => !isGoing(volume))
        .map(lostByDeletion)
        .filter((loss) => loss !== undefined);
      await confirm(io, { losses, question: 'Delete, and destroy this data?' }, flags);
      asked = losses.length > 0 && !flags.yes;
    }
    return eachOf(found, async (volume) => {
      const { name, uid } = volume.metadata;
      if (isGoing(volume)) {
        io.stderr.write(printable(`note: Volume ${name} is already being deleted\n`));
        return volume;
      }
      // A claim may have been bound during the question.
      if (asked) await deletableVolume(name, uid, io, client);
      // Not another Volume that has taken the name since.
      await client.delete(VOLUMES, name, { uid, signal: io.signal });
      const kept = flags.output === undefined ? keptByDeletion(volume) : undefined;
      if (kept !== undefined) io.stderr.write(printable(`note: ${kept}\n`));
      return volume;
    });
  }
}

const isGoing = ({ metadata }: Volume): boolean => metadata.deletionTimestamp !== undefined;

/**
 * Returns a Volume to delete, or one that is already being deleted. Throws a StowageError
 * `conflict` if it is in use, or may be, or if it has another UID than the given one.
 */
async function deletableVolume(
  name: string,
  uid: string | undefined,
  io: Io,
  client: KubeClient,
): Promise<Volume> {
  const volume = await client.get<Volume>(VOLUMES, name, { signal: io.signal });
  if (uid !== undefined && volume.metadata.uid !== uid)
    throw new StowageError('conflict', `Volume ${name} was replaced by another one meanwhile`);
  if (isGoing(volume)) return volume;
  const verdict = deletable(volume, await pvNamed(name, io, client));
  if (!verdict.can) {
    throw new StowageError('conflict', `Volume ${name} cannot be deleted: ${verdict.why}`, verdict);
  }
  return volume;
}

const pvNamed = (
  name: string,
  { signal }: Io,
  client: KubeClient,
): Promise<PersistentVolume | undefined> =>
  ignoreNotFound(client.get<PersistentVolume>(PERSISTENT_VOLUMES, name, { signal }));
