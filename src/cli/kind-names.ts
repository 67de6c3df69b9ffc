import type { Command } from 'commander';
import { StowageError } from '../api/errors.ts';
import { GROUPS } from './lib/resource-names.ts';

interface KindName {
  kind: Command;
  /** Undefined without a slash. */
  name: string | undefined;
}

/**
 * Converts `VERB KIND/NAME…` and `VERB KIND KIND/NAME…` to `VERB KIND NAME…`, as kubectl does.
 * KIND may carry its API group, as `-o name` prints it. Names that the kind takes as they are, such
 * as NAMESPACE/NAME, stay. `KIND,KIND [NAME…]` and names of several kinds become arguments of the
 * verb's command `several`: `VERB several KIND…` or `VERB several KIND/NAME…`. `isPositional`
 * reports whether an argument is neither an option nor the value of one. Throws a StowageError
 * `usage` for several kinds of a verb that takes one. Pure.
 */
export function splitKindNames(
  argv: readonly string[],
  program: Command,
  isPositional: (index: number) => boolean,
): string[] {
  const positions = argv.flatMap((_, index) => (isPositional(index) ? [index] : []));
  const [verbAt = -1, kindAt = -1, ...nameAts] = positions;
  const word = argv[kindAt] ?? '';
  const verb = program.commands.find((each) => each.name() === argv[verbAt]);
  if (verb === undefined) return [...argv];
  const several = severalOf(
    word,
    nameAts.map((index) => argv[index] ?? ''),
    verb,
  );
  if (several !== undefined) {
    return argv.flatMap((argument, index) => {
      if (index === kindAt) return several;
      return nameAts.includes(index) ? [] : [argument];
    });
  }
  const first = kindNameOf(word, verb);
  if (first === undefined) return [...argv];
  const { kind } = first;
  return argv.flatMap((argument, index) => {
    if (index === kindAt) {
      if (isNamed(kind, word)) return [word];
      return first.name ? [kind.name(), first.name] : [kind.name()];
    }
    if (!nameAts.includes(index)) return [argument];
    // After KIND/NAME, each name has its kind: a slash belongs to no NAMESPACE/NAME.
    if (!first.name && takes(kind, argument)) return [argument];
    const other = kindNameOf(argument, verb);
    if (!other?.name) return [argument];
    if (other.kind === kind) return [other.name];
    throw new StowageError(
      'usage',
      `${word} and ${argument} are of several kinds: ${hasSeveral(verb) ? 'write each name as KIND/NAME' : 'stowage takes one kind at a time'}`,
    );
  });
}

/**
 * Returns the command of several kinds with its arguments, or that of the kind if all are the same;
 * undefined for one kind.
 */
function severalOf(word: string, names: readonly string[], verb: Command): string[] | undefined {
  const listed = word.split(',');
  if (listed.length > 1 && verb.commands.length > 0) {
    const kinds = listed.map((noun) => kindNameOf(noun, verb));
    const unknown = listed.find((_, index) => !isKind(kinds[index]));
    // commander reports it, with suggestions.
    if (unknown !== undefined) return unknown.includes('/') ? undefined : [unknown];
    const nouns = [...new Set(kinds.map((each) => each?.kind.name() ?? ''))];
    const [only = ''] = nouns;
    if (nouns.length === 1) return [only, ...names];
    requireSeveral(word, nouns, verb);
    if (names.length === 0) return [SEVERAL, ...nouns];
    return [SEVERAL, ...nouns.flatMap((noun) => names.map((name) => `${noun}/${name}`))];
  }
  if (!kindNameOf(word, verb)?.name || !hasSeveral(verb)) return undefined;
  const all = [word, ...names].map((each) => kindNameOf(each, verb));
  const kinds = new Set(all.map((each) => each?.kind));
  if (kinds.size < 2 || all.some((each) => !each?.name)) return undefined;
  return [SEVERAL, ...all.map((each) => `${each?.kind.name()}/${each?.name}`)];
}

/** Name of a verb's command for several kinds. */
const SEVERAL = 'several';

const hasSeveral = (verb: Command): boolean => verb.commands.some((each) => isNamed(each, SEVERAL));

const isKind = (found: KindName | undefined): boolean =>
  found !== undefined && found.name === undefined && !isNamed(found.kind, SEVERAL);

/** Throws a StowageError `usage` for a verb that takes one kind at a time. */
function requireSeveral(word: string, nouns: readonly string[], verb: Command): void {
  if (hasSeveral(verb)) return;
  const lines = nouns.map((noun) => `stowage ${verb.name()} ${noun}`);
  throw new StowageError('usage', `stowage ${verb.name()} takes one kind at a time, not ${word}`, {
    hint: `Run a command for each kind: ${lines.join('; ')}`,
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

/**
 * Returns the parts of `KIND/NAME` or `KIND`, either with the group of the kind; undefined for
 * other words.
 */
export function kindNameOf(word: string, verb: Command): KindName | undefined {
  const [typed = '', ...rest] = word.split('/');
  const [noun = '', ...group] = typed.split('.');
  const kind = verb.commands.find((each) => isNamed(each, noun));
  if (kind === undefined) return undefined;
  if (group.length > 0 && group.join('.') !== GROUPS[noun]) return undefined;
  return { kind, name: rest.length === 0 ? undefined : rest.join('/') };
}
