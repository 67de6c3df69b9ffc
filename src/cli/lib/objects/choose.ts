import { StowageError } from '../../../api/errors.ts';
import type { KubeObject, Resource } from '../../../api/meta.ts';
import { listAll } from '../../../kube/client.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Io } from '../io.ts';
import { selected } from './selector.ts';

/** Flags that choose objects in place of names. */
export interface ChoiceFlags {
  selector?: string;
  all?: boolean;
}

/** Names of a kind in the messages of a choice. */
export interface ChoiceWords {
  /** The kind on the command line. */
  noun: string;
  /** The objects that `--all` chooses, as in `For all Volumes: --all`. */
  all: string;
  /** Name of an object in an example. */
  example: string;
}

/** Throws a StowageError `usage` unless objects are chosen in exactly one way. */
export function requireOneWay(
  verb: string,
  { noun, all: everything, example }: ChoiceWords,
  names: readonly string[],
  { selector, all }: ChoiceFlags,
): void {
  const ways = [names.length > 0, selector !== undefined, all === true].filter(Boolean);
  if (ways.length !== 1) {
    throw new StowageError('usage', `${verb} ${noun} needs names, or --selector, or --all`, {
      hint: `For example: stowage ${verb} ${noun} ${example}`,
    });
  }
  // An unset variable of a script would select every object.
  if (selector?.trim() === '')
    throw new StowageError('usage', '--selector is empty', {
      hint: `For all ${everything}: --all`,
    });
}

/**
 * Lists the selected objects, or all. Throws a StowageError `usage` for a selector that the server
 * cannot parse.
 */
export async function listChosen<O extends KubeObject>(
  resource: Resource,
  selector: string | undefined,
  { signal }: Pick<Io, 'signal'>,
  client: KubeClient,
): Promise<O[]> {
  const list = listAll<O>(client, resource, { labelSelector: selector, signal });
  return (await selected(selector, list)).items;
}
