import type { Command, Option } from 'commander';

/**
 * A command line as commander reads it, of one that is written as kubectl takes it, too: `-o=json`, and `=true` or `=false`
 * after flags that take no value, all of which are off unless they are given. What options have as their value stays.
 */
export function normalizeArgv(argv: readonly string[], program: Command): string[] {
  const options = allOptions(program);
  const result: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? '';
    if (argument === '--') return [...result, ...argv.slice(index)];
    const [, flag = '', value = ''] = /^(-[a-zA-Z]|--[^=]+)=(.*)$/s.exec(argument) ?? [];
    const option = options.find(
      ({ short, long }) => flag !== '' && (flag === short || flag === long),
    );
    if (option !== undefined && isSwitch(option) && /^(true|false)$/.test(value)) {
      if (value === 'true') result.push(flag);
    } else if (option?.required && flag === option.short) result.push(flag, value);
    else {
      result.push(argument);
      const takesNext = options.some(
        ({ short, long, required }) => required && (argument === short || argument === long),
      );
      if (takesNext && index + 1 < argv.length) result.push(argv[++index] ?? '');
    }
  }
  return result;
}

const isSwitch = ({ required, optional }: Option): boolean => !required && !optional;

/** Of all commands: a flag means the same wherever it is. */
const allOptions = (command: Command): Option[] => [
  ...command.options,
  ...command.commands.flatMap(allOptions),
];
