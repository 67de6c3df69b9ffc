import type { Command, Option } from 'commander';
import { splitKindNames } from './kind-names.ts';

/**
 * Converts a command line to commander's form from kubectl's: `-o=json`, `=true` or `=false` after
 * switches, which are off by default, and `KIND/NAME`. Values of options stay unchanged. Throws a
 * StowageError `usage` for names of several kinds.
 */
export function normalizeArgv(argv: readonly string[], program: Command): string[] {
  const options = allOptions(program);
  const result: string[] = [];
  /** Indexes in the result of arguments that are neither options nor their values. */
  const words = new Set<number>();
  const isWord = (index: number) => words.has(index);
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? '';
    if (argument === '--')
      return [...splitKindNames(result, program, isWord), ...argv.slice(index)];
    const [, flag = '', value = ''] = /^(-[a-zA-Z]|--[^=]+)=(.*)$/s.exec(argument) ?? [];
    const option = options.find(
      ({ short, long }) => flag !== '' && (flag === short || flag === long),
    );
    if (option !== undefined && isSwitch(option) && /^(true|false)$/.test(value)) {
      if (value === 'true') result.push(flag);
    } else if (option?.required && flag === option.short) result.push(flag, value);
    else {
      if (!argument.startsWith('-')) words.add(result.length);
      result.push(argument);
      const takesNext = options.some(
        ({ short, long, required }) => required && (argument === short || argument === long),
      );
      if (takesNext && index + 1 < argv.length) result.push(argv[++index] ?? '');
    }
  }
  return splitKindNames(result, program, isWord);
}

const isSwitch = ({ required, optional }: Option): boolean => !required && !optional;

/** Returns the options of all commands: a flag has the same meaning everywhere. */
const allOptions = (command: Command): Option[] => [
  ...command.options,
  ...command.commands.flatMap(allOptions),
];
