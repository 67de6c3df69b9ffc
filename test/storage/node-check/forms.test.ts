import { expect, test } from '@jest/globals';
import type { ProbeResult } from '../../../src/nodes/job.ts';
import { FORMS, formProbes, misunderstood } from '../../../src/storage/node-check/forms.ts';
import { result } from '../../support/fake-executor.ts';
import { understood } from '../../support/form-answers.ts';
import { may } from '../../support/sudoers.ts';

const answers = (changed: (argv: readonly string[]) => ProbeResult | undefined) =>
  new Map(formProbes().map(({ name, argv }) => [name, changed(argv) ?? understood(argv)]));
const failing = (changed: (argv: readonly string[]) => ProbeResult | undefined) =>
  misunderstood(answers(changed)).map(({ argv, said }) => [argv.slice(0, 3).join(' '), said]);

test('GNU programs understand all forms', () => {
  expect(failing(() => undefined)).toEqual([]);
});

test('an unanswered probe, and a program that cannot run, are no understanding', () => {
  expect(misunderstood(new Map())).toHaveLength(FORMS.length);
  expect(failing(([program]) => (program === 'cp' ? result(126) : undefined))).toEqual([
    ['cp --reflink=auto --sparse=always', undefined],
  ]);
});

test('a missing tool is not reported for its forms, too', () => {
  const found = (cmp: ProbeResult) =>
    misunderstood(
      new Map([
        ...answers(([program]) => (program === 'cmp' ? cmp : undefined)),
        ['cmp', cmp] as const,
      ]),
    ).map(({ argv }) => argv[0]);
  expect(found(result(127))).toEqual([]);
  expect(found(result(1))).toEqual(['cmp']);
});

/** Answers of programs of other projects, as they were recorded. */
test.each<[what: string, command: string, answer: ProbeResult, said: string]>([
  [
    'find of busybox 1.35',
    'find /dev/null -ignore_readdir_race',
    result(
      1,
      '',
      'find: unrecognized: -ignore_readdir_race\nBusyBox v1.35.0 (Debian)\n\nUsage: find',
    ),
    'find: unrecognized: -ignore_readdir_race',
  ],
  [
    'readlink of busybox 1.35',
    'readlink -m --',
    result(1, '', "readlink: invalid option -- 'm'\nBusyBox v1.35.0 (Debian)"),
    "readlink: invalid option -- 'm'",
  ],
  [
    'realpath of busybox 1.35, which takes options for files',
    'realpath -e --',
    result(1, '/\n', 'realpath: -e: No such file or directory'),
    'realpath: -e: No such file or directory',
  ],
  [
    'dd of busybox 1.35',
    'dd if=/dev/zero of=/dev/null',
    result(1, '', "dd: invalid argument 'nocreat' to 'conv'"),
    "dd: invalid argument 'nocreat' to 'conv'",
  ],
  [
    'a stat that prints whole seconds',
    'stat -c %s|%i|%z',
    result(0, '4096|2|2026-11-28 16:07:25 +0000\n'),
    '4096|2|2026-11-28 16:07:25 +0000',
  ],
  [
    'a stat that names types otherwise',
    'stat -L -c',
    result(0, 'character device|1:3\n'),
    'character device|1:3',
  ],
])('reports %s', (_, command, answer, said) => {
  const found = failing((argv) => (argv.join(' ').startsWith(command) ? answer : undefined));
  expect(found).toEqual([[command, said]]);
});

test.each<[said: string, unsupported: string | undefined]>([
  ['dd 0.0.17\n', 'dd 0.0.17'],
  ['dd 0.0.30\n', 'dd 0.0.30'],
  ['dd (uutils coreutils) 0.2.2\n', 'dd (uutils coreutils) 0.2.2'],
  ['dd (uutils coreutils) 0.3.0\n', 'dd (uutils coreutils) 0.3.0'],
  ['dd (uutils coreutils) 0.4.0\n', undefined],
  ['dd (uutils coreutils) 0.12.0\n', undefined],
  ['dd (uutils coreutils) 1.0.0\n', undefined],
  ['dd (coreutils) 9.1\nCopyright (C) 2022\n', undefined],
])('knows by its version a dd that cannot write past the cache: %j', (printed, unsupported) => {
  const results = new Map([...answers(() => undefined), ['dd', result(0, printed)] as const]);
  expect(misunderstood(results).map(({ said }) => said)).toEqual(
    unsupported === undefined ? [] : [unsupported],
  );
});

test('quotes no more than 200 characters', () => {
  const long = result(1, '', `cp: ${'x'.repeat(5000)}`);
  const [[, said] = []] = failing(([program]) => (program === 'cp' ? long : undefined));
  expect(said).toHaveLength(200);
});

test.each(FORMS.map(({ argv }) => [argv.join(' '), argv] as const))(
  'deploy/sudoers allows: %s',
  (_, argv) => {
    expect(may(argv)).toBe(true);
  },
);
