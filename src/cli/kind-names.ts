import type { Command } from 'commander';
import { StowageError } from '../api/errors.ts';
import { GROUPS } from './lib/resource-names.ts';

interface KindName {
  kind: Command;
  name: string;
}

/**
 * Converts `VERB KIND/NAME…` and `VERB KIND KIND/NAME…` to `VERB KIND NAME…`, as kubectl does.
 * KIND may carry its API group, as `-o name` prints it. Names that the kind takes as they are, such
 * as NAMESPACE/NAME, stay. `isPositional` reports whether an argument is neither an option nor the
 * value of one. Throws a StowageError `usage` for names of several kinds. Pure.
 */
export function splitKindNames(
  argv: readonly string[],
  program: Command,
  isPositional: (index: number) => boolean,
): string[] {
  const [verbAt = -1, kindAt = -1] = argv.flatMap((_, index) =>
    isPositional(index) ? [index] : [],
  );
  const word = argv[kindAt] ?? '';
  const verb = program.commands.find((each) => each.name() === argv[verbAt]);
  const first = verb && kindNameOf(word, verb);
  const kind = first?.kind ?? verb?.commands.find((each) => isNamed(each, word));
  if (verb === undefined || kind === undefined) return [...argv];
  return argv.flatMap((argument, index) => {
    if (index === kindAt && first !== undefined)
      return first.name === '' ? [kind.name()] : [kind.name(), first.name];
    if (index <= kindAt || !isPositional(index)) return [argument];
    // After KIND/NAME, each name has its kind: a slash belongs to no NAMESPACE/NAME.
    if (!first?.name && takes(kind, argument)) return [argument];
    const other = kindNameOf(argument, verb);
    if (other === undefined || other.name === '') return [argument];
    if (other.kind === kind) return [other.name];
    throw new StowageError(
      'usage',
      `${word} and ${argument} are of several kinds: stowage takes one kind at a time`,
    );
  });
}

const isNamed = (command: Command, word: string): boolean =>
  [command.name(), ...command.aliases()].includes(word);

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
  const kind = verb.commands.find((each) => isNamed(each, noun));
  if (kind === undefined) return undefined;
  if (group.length > 0 && group.join('.') !== GROUPS[noun]) return undefined;
  return { kind, name: rest.join('/') };
}
