import type { Command, Option } from 'commander';
import { allCommands, optionsOf, pathOf, takesValue, wordsOf } from '../complete/tree.ts';
import { type Values, valuesOf, valuesOfArgument } from '../complete/values.ts';

/** What a script does where something can stand: offer these words, ask `stowage __complete`, or offer files. */
export type Place = { words: readonly string[] } | 'ask' | 'files' | 'folders' | 'nothing';

/** A command as the scripts have it. */
export interface Row {
  /** The words that lead to it; '' for the program. */
  path: string;
  /** What can follow. */
  words: readonly { name: string; names: readonly string[]; description: string }[];
  options: readonly { names: readonly string[]; long: string; description: string; place: Place }[];
  /** The last of them stands for all that follow, if `repeats`. */
  arguments: readonly Place[];
  repeats: boolean;
}

/** What the scripts know of the tree of commands, the program first. */
export const rowsOf = (program: Command): Row[] => allCommands(program).map(rowOf);

/** How the options are written whose values are words of their own. A flag means the same wherever it is. */
export const optionsWithValue = (program: Command): string[] => [
  ...new Set(allCommands(program).flatMap(optionsOf).filter(takesValue).flatMap(namesOf)),
];

function rowOf(command: Command): Row {
  const path = pathOf(command);
  return {
    path,
    words: wordsOf(command).map((inner) => ({
      name: inner.name(),
      names: [inner.name(), ...inner.aliases()],
      description: inner.description(),
    })),
    options: optionsOf(command).map((option) => ({
      names: namesOf(option),
      long: option.long ?? '',
      description: option.description,
      place: placeOf(valuesOf(path, option)),
    })),
    // What they take goes by what was said before.
    arguments:
      path === 'why' || path === 'help'
        ? ['ask']
        : command.registeredArguments.map((argument) => placeOf(valuesOfArgument(path, argument))),
    repeats: path === 'why' || (command.registeredArguments.at(-1)?.variadic ?? false),
  };
}

const namesOf = ({ short, long }: Option): string[] =>
  [short, long].filter((name) => name !== undefined);

function placeOf(values: Values | undefined): Place {
  if (values === undefined) return 'nothing';
  if ('files' in values) return values.files === 'folders' ? 'folders' : 'files';
  return 'choices' in values && !values.list ? { words: values.choices } : 'ask';
}

/** Cases that come to the same, together: what each comes to, and the patterns of all that do. */
export function grouped(
  cases: readonly { patterns: readonly string[]; result: string }[],
): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { patterns, result } of cases)
    groups.set(result, [...(groups.get(result) ?? []), ...patterns]);
  return groups;
}
