import { type Command, InvalidArgumentError, Option } from 'commander';
import { kindNameOf } from '../kind-names.ts';
import { addExamples } from '../lib/examples.ts';
import {
  addOutputOptions,
  allNamespacesOption,
  type GetKind,
  selectorOption,
} from '../lib/get/get-command.ts';
import type { RequestedKind } from '../lib/get/get-several.ts';
import type { GetFlags } from '../lib/get/resource-view.ts';
import { connectFor } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';

/**
 * Adds the command of several kinds, which `get KIND,KIND` and names of several kinds stand for.
 * `kinds`: those of the verb.
 */
export default function getSeveral(get: Command, io: Io, kinds: readonly GetKind[]): void {
  get.addHelpText(
    'after',
    '\nSeveral kinds: stowage get KIND,KIND… (see stowage get several --help)',
  );
  const command = get
    .command('several')
    .description('list objects of several kinds: the same as stowage get KIND,KIND…')
    .argument(
      '<kind...>',
      'kinds, or kinds and names as KIND/NAME',
      (word, before: RequestedKind[] = []) => withRequest(before, requestedIn(word, get, kinds)),
    )
    .addOption(allNamespacesOption())
    .addOption(selectorOption())
    // Refused, with the commands that watch each kind.
    .addOption(new Option('-w, --watch').hideHelp());
  addOutputOptions(command).action(async (requested: RequestedKind[], _flags, command: Command) => {
    const flags = command.optsWithGlobals<GetFlags>();
    const { getSeveral: run } = await import('../lib/get/get-several.ts');
    await run(requested, flags, io, () => connectFor(command, io));
  });
  addExamples(command, [
    'stowage get volumes,storageclasses',
    '# Objects of several kinds, as one List',
    'stowage get volume/data1 storageclass/local -o yaml',
  ]);
}

/** Parses `KIND` or `KIND/NAME`. Throws an InvalidArgumentError. */
function requestedIn(word: string, get: Command, kinds: readonly GetKind[]): RequestedKind {
  const found = kindNameOf(word, get);
  const kind = kinds.find(({ command }) => command === found?.kind);
  if (found === undefined || kind === undefined)
    throw new InvalidArgumentError('It names no kind of stowage get.');
  if (found.name === undefined) return { kind, names: [] };
  const names = kind.command.registeredArguments[0]?.parseArg?.(found.name, undefined);
  return { kind, names: names as unknown as string[] };
}

/** Adds a request to earlier ones: each kind once, with all of its names. */
function withRequest(before: readonly RequestedKind[], { kind, names }: RequestedKind) {
  const same = before.find((each) => each.kind === kind);
  if (same === undefined) return [...before, { kind, names }];
  // A kind without a name requests all of its objects.
  const all = same.names.length === 0 || names.length === 0;
  const merged = { kind, names: all ? [] : [...new Set([...same.names, ...names])] };
  return before.map((each) => (each === same ? merged : each));
}
