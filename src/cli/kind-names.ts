import type { Command } from 'commander';
import { StowageError } from '../api/errors.ts';
import { GROUPS } from './lib/resource-names.ts';

interface KindName {
  kind: Command;
  name: string;
}

/**
 * Converts `VERB KIND/NAME…` to `VERB KIND NAME…`, as kubectl reads it. KIND may carry its API
 * group, as `-o name` prints it. `isPositional` reports whether an argument is neither an option
 * nor the value of one. Throws a StowageError `usage` for names of several kinds. Pure.
 */
export function splitKindNames(
  argv: readonly string[],
  program: Command,
  isPositional: (index: number) => boolean,
): string[] {
  const [verbAt = -1, kindAt = -1] = argv.flatMap((_, index) =>
    isPositional(index) ? [index] : [],
  );
  const verb = program.commands.find((each) => each.name() === argv[verbAt]);
  const first = verb && kindNameOf(argv[kindAt] ?? '', verb);
  if (verb === undefined) return [...argv];
  if (first === undefined) return inOneKind(argv, kindAt, verb, isPositional);
  const { kind } = first;
  return argv.flatMap((argument, index) => {
    if (index === kindAt) return first.name === '' ? [kind.name()] : [kind.name(), first.name];
    const isName = index > kindAt && isPositional(index);
    const other = isName ? kindNameOf(argument, verb) : undefined;
    // Without a name in the first argument, a slash belongs to NAMESPACE/NAME.
    if (other === undefined || first.name === '' || other.name === '') return [argument];
    if (other.kind === kind) return [other.name];
    throw ofSeveral(argv[kindAt], argument);
  });
}

const ofSeveral = (one = '', other = ''): StowageError =>
  new StowageError(
    'usage',
    `${one} and ${other} are of several kinds: stowage takes one kind at a time`,
  );

/**
 * Removes the kind from names `KIND/NAME` after `VERB KIND`. Leaves names alone that the kind takes
 * as they are, as NAMESPACE/NAME. Throws a StowageError `usage` for a name of another kind.
 */
function inOneKind(
  argv: readonly string[],
  kindAt: number,
  verb: Command,
  isPositional: (index: number) => boolean,
): string[] {
  const kind = verb.commands.find((each) =>
    [each.name(), ...each.aliases()].includes(argv[kindAt] ?? ''),
  );
  if (kind === undefined) return [...argv];
  return argv.map((argument, index) => {
    if (index <= kindAt || !isPositional(index) || takes(kind, argument)) return argument;
    const other = kindNameOf(argument, verb);
    if (other === undefined || other.name === '') return argument;
    if (other.kind === kind) return other.name;
    throw ofSeveral(argv[kindAt], argument);
  });
}

/** Reports whether a word can be a name of a kind. */
function takes(kind: Command, word: string): boolean {
  try {
    kind.registeredArguments[0]?.parseArg?.(word, undefined);
    return true;
  } catch {
    return false;
  }
}

/** Returns the parts of `KIND/NAME`, `KIND.GROUP/NAME` or `KIND.GROUP`; undefined for others. */
function kindNameOf(word: string, verb: Command): KindName | undefined {
  const [typed = '', ...rest] = word.split('/');
  const [noun = '', ...group] = typed.split('.');
  if (rest.length === 0 && group.length === 0) return undefined;
  const kind = verb.commands.find((each) => [each.name(), ...each.aliases()].includes(noun));
  if (kind === undefined) return undefined;
  if (group.length > 0 && group.join('.') !== GROUPS[noun]) return undefined;
  return { kind, name: rest.join('/') };
}
