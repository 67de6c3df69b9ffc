import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Step } from '../../src/nodes/job.ts';

/**
 * Commands that deploy/sudoers allows on a node, read like sudo, whose `.` also matches a newline.
 * `sudo -l` is no alternative: it ignores programs that the machine lacks.
 */
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

/** Returns all commands that steps run through sudo. */
export const commandsOf = (steps: readonly Step[]): (readonly string[])[] =>
  steps.flatMap(({ argv, preconditions, lock }) => [
    argv,
    ...preconditions.map((precondition) => precondition.argv),
    ...(lock === undefined ? [] : [['flock', '-x', '-w', '60', lock, 'cat']]),
  ]);
