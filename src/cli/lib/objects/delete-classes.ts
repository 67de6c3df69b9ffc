import { StowageError } from '../../../api/errors.ts';
import type { KubeObject, Resource } from '../../../api/meta.ts';
import { listAll } from '../../../kube/client.ts';
import { isNotFound } from '../../../kube/errors.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { about, conclude } from '../batch.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';
import { confirm } from '../prompts/confirm.ts';
import { isInteractive } from '../prompts/interactive.ts';
import { foundIn, type Reading, reading } from '../read-result.ts';
import { type ChoiceFlags, type ChoiceWords, listChosen, requireOneWay } from './choose.ts';
import { printChosen, printDone } from './print.ts';

export interface DeleteClassFlags extends ChoiceFlags {
  ignoreNotFound?: boolean;
  yes?: boolean;
  output?: 'json' | 'yaml' | 'name';
}

/** A kind of classes of `stowage delete`. `U` has the objects that use classes. */
export interface ClassKind<O extends KubeObject, U> {
  resource: Resource;
  words: ChoiceWords;
  /** As in `No storage classes of Volumes found`. */
  plural: string;
  /** Reads what uses classes. Throws a StowageError `forbidden` if the user may not read it. */
  readUses(client: KubeClient, io: Io): Promise<U>;
  /**
   * Reports whether Stowage serves a class. For one that may be another provisioner's, returns why
   * it is not deleted unless it is named.
   */
  isServed(found: O, uses: U): boolean | string;
  /** Throws a StowageError `conflict` if something still needs the class. */
  refuseIfNeeded(found: O, uses: U): void;
  /** Returns what no longer works without the default class; undefined for another class. */
  lostDefault(found: O): string | undefined;
  /** Returns what waits without a class that is not named, but chosen with others. */
  lost(found: O): string;
  /** Returns what outlives the class; undefined if nothing. */
  kept?(found: O, uses: U): string | undefined;
  /** Throws another error in place of the one of a request. */
  failed?(error: unknown): never;
}

/**
 * Runs `stowage delete` for classes, each independently of the others. Calls `connect` only for
 * correct usage. Throws a StowageError.
 */
export async function deleteClasses<O extends KubeObject, U>(
  kind: ClassKind<O, U>,
  names: readonly string[],
  flags: DeleteClassFlags,
  io: Io,
  connect: () => Promise<KubeClient>,
): Promise<void> {
  requireOneWay('delete', kind.words, names, flags);
  const client = await connect();
  const { resource } = kind;
  const { signal } = io;
  const isChosen = names.length === 0;
  // Others may delete what was listed: it is gone either way.
  const ignoresNotFound = isChosen || flags.ignoreNotFound;
  const errors: unknown[] = [];
  async function each<T, R>(
    things: readonly T[],
    nameOf: (thing: T) => string,
    work: (thing: T) => R | Promise<R>,
  ): Promise<R[]> {
    const results: R[] = [];
    for (const thing of things) {
      try {
        results.push(await work(thing));
      } catch (error) {
        if (signal.aborted) throw error;
        const object = { kind: resource.kind, name: nameOf(thing) };
        if (!(ignoresNotFound && isNotFound(error))) errors.push(about(error, object));
      }
    }
    return results;
  }
  const eachOf = <R>(classes: readonly O[], work: (found: O) => R | Promise<R>) =>
    each(classes, ({ metadata }) => metadata.name, work);
  const unneeded = (classes: readonly O[], uses: U) =>
    eachOf(classes, (found) => {
      kind.refuseIfNeeded(found, uses);
      return found;
    });

  const uses = await kind.readUses(client, io);
  const found = isChosen
    ? await chosen(kind, flags.selector, uses, io, client)
    : await each(
        names,
        (name) => name,
        (name) => client.get<O>(resource, name, { signal }).catch(kind.failed ?? rethrow),
      );
  let deletable = await unneeded(found, uses);
  if (await agreed(kind, deletable, isChosen, flags, io)) {
    // Something may need a class since the question.
    deletable = await unneeded(deletable, await kind.readUses(client, io));
  }
  const deleted = await eachOf(deletable, async (found) => {
    const { name, uid } = found.metadata;
    // Not another class that has taken the name since.
    await client.delete(resource, name, { uid, signal });
    const kept = flags.output === undefined ? kind.kept?.(found, uses) : undefined;
    if (kept !== undefined) io.stderr.write(printable(`note: ${kept}\n`));
    return found;
  });
  if (isChosen) printChosen(deleted, 'deleted', flags.output, io);
  else printDone(deleted, names.length > 1, 'deleted', flags.output, io);
  conclude(errors, isChosen ? found.length : names.length, io);
}

/**
 * Lists objects of a kind that may need classes; none if the cluster lacks the kind. Throws a
 * StowageError `forbidden` if the user may not read them.
 * @param kind of the classes, as in `StorageClass`
 */
export async function listNeeding<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  kind: string,
  { signal }: Io,
): Promise<T[]> {
  const read = await reading(listAll<T>(client, resource, { signal }));
  if ('forbidden' in read) throw useUnknown(read, kind);
  return foundIn(read)?.items ?? [];
}

/** Returns the error of a class of which it is unknown whether something needs it. */
export const useUnknown = (
  { forbidden }: Extract<Reading<unknown>, { forbidden: unknown }>,
  kind: string,
): StowageError =>
  new StowageError('forbidden', `It is unknown whether a ${kind} is needed: ${forbidden}`, {
    hint: `Request that right, or delete a class that nothing needs: kubectl delete ${kind.toLowerCase()} NAME`,
  });

/** Lists the selected classes that Stowage serves. Notes those that it may not. */
async function chosen<O extends KubeObject, U>(
  kind: ClassKind<O, U>,
  selector: string | undefined,
  uses: U,
  io: Io,
  client: KubeClient,
): Promise<O[]> {
  const list = listChosen<O>(kind.resource, selector, io, client);
  const listed = await list.catch(kind.failed ?? rethrow);
  const result = listed.filter((found) => {
    if (found.metadata.deletionTimestamp !== undefined) return false;
    const served = kind.isServed(found, uses);
    if (typeof served === 'string') io.stderr.write(printable(`note: ${served}\n`));
    return served === true;
  });
  if (result.length === 0) io.stderr.write(`No ${kind.plural} found\n`);
  return result;
}

/**
 * Requires consent on a terminal if the default class or chosen ones are deleted, and reports
 * whether a question was asked. Scripts cannot answer: deletion proceeds as with kubectl. Throws a
 * StowageError `conflict` without consent.
 */
async function agreed<O extends KubeObject, U>(
  kind: ClassKind<O, U>,
  classes: readonly O[],
  isChosen: boolean,
  flags: DeleteClassFlags,
  io: Io,
): Promise<boolean> {
  if (!isInteractive(io)) return false;
  const losses = classes.flatMap((found) => {
    const parts = [...(isChosen ? [kind.lost(found)] : []), kind.lostDefault(found)];
    const lost = parts.filter((part) => part !== undefined);
    const { name } = found.metadata;
    return lost.length === 0 ? [] : [`${kind.resource.kind} ${name}: ${lost.join('; ')}`];
  });
  await confirm(io, { losses, question: `Delete ${kind.words.all}?` }, flags);
  return losses.length > 0 && !flags.yes;
}

function rethrow(error: unknown): never {
  throw error;
}
