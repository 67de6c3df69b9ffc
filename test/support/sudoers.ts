import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Step } from '../../src/nodes/job.ts';

/** What deploy/sudoers lets the account on a node run, as sudo reads it, whose `.` stands for a newline as well: sudo -l knows no program that a machine lacks. */
const allowed = readFileSync('deploy/sudoers', 'utf8')
  .split(/(?:, \\\n|, (?=\/usr)|\n)/)
  .flatMap((line): { program: string; args: RegExp }[] => {
    const [, program = '', args = ''] =
      /^(?:Cmnd_Alias.*= \\)?\s*(\/usr\/s?bin\/\S+) (\^.*\$|"")$/.exec(line) ?? [];
    return program === ''
      ? []
      : [{ program: basename(program), args: args === '""' ? /^$/ : new RegExp(args, 's') }];
  });

export const may = ([program, ...args]: readonly string[]): boolean =>
  allowed.some((each) => each.program === program && each.args.test(args.join(' ')));

/** All that sudo is asked for while steps run. */
export const commandsOf = (steps: readonly Step[]): (readonly string[])[] =>
  steps.flatMap(({ argv, preconditions, lock }) => [
    argv,
    ...preconditions.map((precondition) => precondition.argv),
    ...(lock === undefined ? [] : [['flock', '-x', '-w', '60', lock, 'cat']]),
  ]);
