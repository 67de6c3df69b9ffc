import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ProbeResult } from '../../../src/nodes/job.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import { readShared, sharedProbes } from '../../../src/storage/shared-fs/observe.ts';
import { textOf } from '../../../src/storage/shared-fs/text.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { UID } from '../../support/volume-input.ts';

const by = { node: 'n2.example', bootId: '11111111-2222-4333-8444-555555555555', token: 'a1b2' };
const BOOT = '9f1c2b1f-7a54-4f0a-9c53-2f2d8f0b7e11';
const ok = (stdout: string): ProbeResult => ({ exit: 0, stdout, stderr: '' });

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let file: string;
beforeEach(async () => {
  folder = await temporaryDirectory('shared-observe');
  file = `${folder.path}/${UID}`;
});
afterEach(() => folder.remove());

/** Observes with the real find(1). */
function look(path = file) {
  const probe = sharedProbes({ shared: true, file: path }).find(({ name }) => name === 'holders');
  const [program = '', ...args] = probe?.argv ?? [];
  let holders: ProbeResult;
  try {
    holders = ok(
      execFileSync(program, args, {
        encoding: 'utf8',
        stdio: 'pipe',
        env: { ...process.env, LC_ALL: 'C' },
      }),
    );
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    holders = { exit: status, stdout, stderr };
  }
  return read(holders, path);
}

const read = (holders: ProbeResult, path = file) =>
  readShared(
    { shared: true, file: path },
    path,
    new Map([
      ['boot', ok(`${BOOT}\n`)],
      ['mounts', ok('22 1 8:1 / / rw - ext4 /dev/sda1 rw\n')],
      ['holders', holders],
    ]),
  );

test('sharedProbes is empty for a file that is not shared', () => {
  expect(sharedProbes({ shared: false, file })).toEqual([]);
  expect(readShared({ shared: false, file }, file, new Map())).toBeUndefined();
});

test('readShared reads owner files by number, reader marks and unfinished files', () => {
  for (const [name, text] of [
    ['owner.10', textOf('free', by)],
    ['owner.9', textOf('held', by)],
    ['reader.n2.example-a1b2', textOf('held', by)],
    ['new.n1-x', ''],
  ] as const) {
    writeFileSync(`${file}.${name}`, `${text}\n`);
  }
  writeFileSync(file, 'data');
  writeFileSync(`${folder.path}/${UID.replace('6', '7')}.owner.11`, textOf('held', by));
  expect(look()).toEqual({
    bootId: BOOT,
    mount: {
      ...{ point: '/', type: 'ext4', source: '/dev/sda1', device: '8:1', root: '/' },
      ...{ readOnly: false, options: ['rw'] },
    },
    owners: [
      {
        number: 9,
        state: { is: 'held', by },
        text: textOf('held', by),
        since: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      { number: 10, state: { is: 'free', by }, text: textOf('free', by), since: expect.anything() },
    ],
    marks: [{ path: `${file}.reader.n2.example-a1b2`, node: 'n2.example', by }],
    unfinished: [{ path: `${file}.new.n1-x`, node: 'n1' }],
  });
});

test('a missing directory has no owners and no reader marks', () => {
  expect(look(`${folder.path}/none/${UID}`)).toMatchObject({ owners: [], marks: [] });
});

test.each<[string, string]>([
  ['nothing', ''],
  ['no JSON', 'n1'],
  ['null', 'null'],
  ['a list', '[]'],
  ['another version', textOf('held', by).replace('1', '2')],
  ['an additional field', textOf('held', by).replace('}', ',"x":1}')],
  ['an invalid name', textOf('held', { ...by, node: '../n1' })],
  ['a line break in a name', textOf('held', { ...by, node: 'n1\n@x' })],
  ['an invalid token', textOf('held', { ...by, token: 'A B' })],
  ['an object as a name', textOf('held', { ...by, node: { toString: 1 } as never })],
  ['spaces', ` ${textOf('free', by)}`],
  [
    'a line of find’s output',
    `x\n@${UID}.owner.99|1.0|${Buffer.from(textOf('free', by)).toString('base64')}`,
  ],
  ['bytes that are no text', '\u0000\ufffd\u00ff'],
])('an owner file with %s is unreadable', (_, text) => {
  writeFileSync(`${file}.owner.3`, text);
  expect(look()?.owners).toMatchObject([{ number: 3, state: { is: 'unreadable' } }]);
});

test('a directory, a link or a huge file in place of an owner file is unreadable', () => {
  writeFileSync(`${file}.owner.1`, '');
  truncateSync(`${file}.owner.1`, 1 << 30);
  mkdirSync(`${file}.owner.2`);
  symlinkSync('/etc/passwd', `${file}.owner.3`);
  expect(look()?.owners).toMatchObject(
    [1, 2, 3].map((number) => ({ number, text: '', state: { is: 'unreadable' } })),
  );
});

test.each([`x\n@${UID}.owner.99|1.0|`, '5|', '01', '', 'a', '-1', '1e3', ' 7'])(
  '%j is no number of an owner file',
  (suffix) => {
    writeFileSync(`${file}.owner.${suffix}`, textOf('free', by));
    expect(look()?.owners).toEqual([]);
  },
);

test('a reader mark counts even without a valid name', () => {
  writeFileSync(`${file}.reader.x-`, '');
  expect(look()?.marks).toEqual([{ path: `${file}.reader.x-`, node: '.reader.x-', by: undefined }]);
});

test('readShared throws if the directory cannot be read', () => {
  const stale = { exit: 1, stdout: '', stderr: `find: '${folder.path}': Stale file handle` };
  expect(() => read(stale)).toThrow(ObservationError);
});
