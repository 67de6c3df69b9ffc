import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { plan } from '../../../src/storage/plan.ts';
import { sharedProbes } from '../../../src/storage/shared-fs/observe.ts';
import type { VolumeOperation } from '../../../src/storage/types.ts';
import { FakeShare, FakeSharer, sharedDesired } from '../../support/fake-shared.ts';
import { FILE, freshNode, UID } from '../../support/volume-input.ts';

/**
 * The commands that deploy/sudoers allows, as sudo parses it: those of these groups alone, and of
 * all.
 */
const text = readFileSync('deploy/sudoers', 'utf8');
const allowed = text
  .split(/(?:, \\\n|, (?=\/usr)|\n)/)
  .flatMap((line): { program: string; args: RegExp }[] => {
    const [, program = '', args = ''] =
      /^(?:Cmnd_Alias.*= \\)?\s*(\/usr\/s?bin\/\S+) (\^.*\$)$/.exec(line) ?? [];
    return program === '' ? [] : [{ program: basename(program), args: new RegExp(args, 's') }];
  });
const may = ([program, ...args]: readonly string[]): boolean =>
  allowed.some((each) => each.program === program && each.args.test(args.join(' ')));

test('sudoers allows the probes of a shared file', () => {
  expect(
    sharedProbes(sharedDesired)
      .map(({ argv }) => argv)
      .filter((argv) => !may(argv)),
  ).toEqual([]);
});

test('sudoers allows all commands on a shared file', () => {
  const share = new FakeShare();
  const own = new FakeSharer('n1', share);
  const made = plan(
    'provision',
    { ...sharedDesired, recorded: false },
    { ...freshNode, shared: share.observe(own.bootId) },
    3,
  );
  const commands: (readonly string[])[] = [];
  const keep = (
    steps: readonly {
      argv: readonly string[];
      preconditions: readonly { argv: readonly string[] }[];
    }[],
  ) =>
    commands.push(
      ...steps.flatMap(({ argv, preconditions }) => [
        argv,
        ...preconditions.map((precondition) => precondition.argv),
      ]),
    );
  if ('refusal' in made) throw new Error(made.refusal);
  keep(made.steps);
  const operations: [VolumeOperation, boolean][] = [
    ['attach', false],
    ['detach', false],
    ['attach', true],
    ['detach', true],
    ['delete', false],
  ];
  for (const [operation, readOnly] of operations) {
    own.attempts++;
    const steps = own.steps(operation, own.desired({ readOnly }, []));
    keep(steps);
    own.finish(steps);
  }
  expect(commands.filter(([program]) => program === 'ln').length).toBeGreaterThan(3);
  expect(commands.filter((argv) => !may(argv))).toEqual([]);
});

const FOLDER = dirname(FILE);
test.each([
  [['ln', '-T', '--', FILE, `${FILE}.owner.1`]],
  [['ln', '-T', '--', `${FILE}.new.n1-t1`, FILE]],
  [['ln', '-s', '-T', '--', `${FILE}.new.n1-t1`, `${FILE}.owner.1`]],
  [['ln', '-T', '-f', '--', `${FILE}.new.n1-t1`, `${FILE}.owner.1`]],
  [['mv', '-T', '--', `${FILE}.new.n1-t1`, `${FILE}.owner.1`]],
  [['mv', '-T', '--', `${FILE}.new.n1-t1`, FILE]],
  [['dd', `of=${FILE}.owner.1`, 'conv=excl,fsync', 'status=none']],
  [['dd', `of=${FILE}.new.n1-t1`, 'conv=fsync', 'status=none']],
  [['dd', `of=${FILE}.new./etc/passwd`, 'conv=excl,fsync', 'status=none']],
  [['rm', '-f', '--', `${FILE}.owner.1`, '/etc/passwd']],
  [['rm', '-f', '--', `${FILE}.reader.../../x`]],
  [['rm', '-r', '-f', '--', `${FILE}.owner.1`]],
  [['cat', `${FILE}.reader.n1-t1`]],
  [['cat', FILE]],
  [['find', `${FOLDER}/`, '-maxdepth', '1', '-name', `${UID}.owner.*`, '-delete']],
  [
    [
      'find',
      `${FOLDER}/`,
      '-maxdepth',
      '1',
      '-name',
      `${UID}.owner.*`,
      '-exec',
      'base64',
      '-w0',
      '{}',
      ';',
    ],
  ],
  [['find', '/etc/', '-maxdepth', '1', '-name', `${UID}.owner.*`]],
])('sudoers forbids %j', (argv) => {
  expect(may(argv)).toBe(false);
});
