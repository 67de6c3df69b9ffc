import type { Command, Option } from 'commander';
import { optionsOf, pathOf, takesValue, wordsOf } from '../lib/command-tree.ts';
import {
  CLAIM_NAMES,
  NODE_NAMES,
  POD_NAMES,
  SNAPSHOT_NAMES,
  VOLUME_NAMES,
} from '../lib/resource-names.ts';
import { parseTarget } from '../lib/target.ts';
import { type Values, valuesOf, valuesOfArgument } from './values.ts';

export interface Candidate {
  word: string;
  description?: string;
}

/** Request for completion at the end of a command line. */
export interface Asked {
  /** Candidates, or the source to read them from; undefined if unknown. */
  values: Values | { words: readonly Candidate[]; list?: true } | undefined;
  /** Typed part of the argument without `prefix`; for `--option=value`, of the value. */
  start: string;
  /** Typed part before `start`: the kind of KIND/NAME, or earlier elements of a list. */
  prefix: string;
  /** Options that were given before, by their long names. */
  given: ReadonlyMap<string, string>;
  /** Arguments that were given before. */
  arguments: readonly string[];
}

/** Kinds that `why` may explain, and the values of NAME after KIND or `KIND/`. */
const EXPLAINED: readonly (readonly [nouns: readonly string[], names: Values])[] = [
  [VOLUME_NAMES, { live: 'volumes' }],
  [NODE_NAMES, { live: 'nodes' }],
  [POD_NAMES, { live: 'pods', anywhere: true }],
  [CLAIM_NAMES, { live: 'claims', anywhere: true }],
  [SNAPSHOT_NAMES, { live: 'snapshots', anywhere: true }],
];

/** Parses the arguments after the program's name; the last one is being typed. */
export function asked(program: Command, words: readonly string[]): Asked {
  const before = [...words];
  const start = before.pop() ?? '';
  const given = new Map<string, string>();
  const args: string[] = [];
  let at = program;
  let option: Option | undefined;
  let onlyArguments = false;
  const known = (word: string) =>
    optionsOf(at).find(({ short, long }) => word === short || word === long);
  for (const word of before) {
    if (option !== undefined) {
      given.set(option.long ?? '', word);
      option = undefined;
    } else if (onlyArguments || !/^-./.test(word)) {
      const inner =
        args.length === 0 ? wordsOf(at).find((each) => isCalled(each, word)) : undefined;
      if (inner !== undefined) at = inner;
      else args.push(word);
    } else if (word === '--') onlyArguments = true;
    else {
      const read = readOption(word, known);
      if (read?.value !== undefined) given.set(read.option.long ?? '', read.value);
      else if (read !== undefined && takesValue(read.option)) option = read.option;
    }
  }
  const path = pathOf(at);
  const answer = (values: Asked['values'], word = start, prefix = ''): Asked => {
    const comma = values !== undefined && 'list' in values ? word.lastIndexOf(',') + 1 : 0;
    return {
      values,
      prefix: prefix + word.slice(0, comma),
      start: word.slice(comma),
      given,
      arguments: args,
    };
  };
  if (option !== undefined) return answer(valuesOf(path, option));
  if (!onlyArguments && start.startsWith('-')) {
    const read = start.includes('=') ? readOption(start, known) : undefined;
    if (read !== undefined) return answer(valuesOf(path, read.option), read.value);
    return answer({
      words: optionsOf(at).map((each) => ({
        word: each.long ?? '',
        description: each.description,
      })),
    });
  }
  if (at.name() === 'help' || (wordsOf(at).length > 0 && args.length === 0)) {
    const words = wordsAfter(at.name() === 'help' ? helped(program, args) : at);
    // Kinds of `get` may be several, separated by commas.
    return answer({ words, ...(path === 'get' && { list: true }) });
  }
  if (path === 'why') return ofWhy(answer, start, args);
  const { registeredArguments } = at;
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[args.length] ?? (last?.variadic ? last : undefined);
  return answer(valuesOfArgument(path, argument));
}

const isCalled = (command: Command, word: string): boolean =>
  command.name() === word || command.aliases().includes(word);

const wordsAfter = (command: Command): Candidate[] =>
  wordsOf(command).map((inner) => ({ word: inner.name(), description: inner.description() }));

/** Parses `--flag`, `--flag=value`, `-f`, `-fvalue`, `-f=value`, also after switches: `-wo`. */
function readOption(
  word: string,
  known: (word: string) => Option | undefined,
): { option: Option; value: string | undefined } | undefined {
  if (word.startsWith('--')) {
    const at = word.indexOf('=');
    const option = known(at < 0 ? word : word.slice(0, at));
    return option && { option, value: at < 0 ? undefined : word.slice(at + 1) };
  }
  const option = known(word.slice(0, 2));
  const rest = word.slice(2);
  if (option === undefined || rest === '') return option && { option, value: undefined };
  if (takesValue(option)) return { option, value: rest.replace(/^=/, '') };
  return readOption(`-${rest}`, known);
}

/** Returns the command that the arguments of `help` name, as far as they are known. */
function helped(program: Command, words: readonly string[]): Command {
  let at = program;
  for (const word of words) at = wordsOf(at).find((each) => isCalled(each, word)) ?? at;
  return at;
}

/** Completes `why KIND NAME…` and `why KIND/NAME…`. */
function ofWhy(
  answer: (values: Asked['values'], word?: string, prefix?: string) => Asked,
  start: string,
  args: readonly string[],
): Asked {
  const [kind] = args;
  if (kind !== undefined && !kind.includes('/')) return answer(namesOf(kind));
  const [, before = '', name] = /^([^/]*\/)(.*)$/.exec(start) ?? [];
  if (name !== undefined) return answer(namesOf(before.slice(0, -1)), name, before);
  if (kind !== undefined) return answer(undefined);
  return answer({ choices: EXPLAINED.map(([nouns]) => shortest(nouns)).filter(isExplained) });
}

const namesOf = (kind: string): Values | undefined =>
  EXPLAINED.find(([nouns]) => nouns.includes(kind))?.[1];

/** Returns the name that users mostly type and that help lists: `pvc`, but not `vol`. */
const shortest = (nouns: readonly string[]): string =>
  nouns.includes('pvc') ? 'pvc' : (nouns[1] ?? '');

function isExplained(kind: string): boolean {
  try {
    parseTarget(kind, 'a');
    return true;
  } catch {
    return false;
  }
}
