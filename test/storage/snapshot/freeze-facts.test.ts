import { readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const SCRIPT = readFileSync('src/storage/scripts/freeze.sh', 'utf8');
const functionNamed = (name: string) =>
  new RegExp(`^${name}\\(\\) \\{(?:.*\\}$|\\n[\\s\\S]*?\\n\\}$)`, 'm').exec(SCRIPT)?.[0] ?? '';
const FUNCTIONS = ['facts_of', 'note_frozen', 'has_facts', 'is_left'].map(functionNamed).join('\n');

/** Changes of the frozen file, and of the record of the freeze, in s since the epoch. */
const [FROZEN, BEGAN] = ['1795888713.8553298510', '1795888713.5000000000'];
const WHOLE = '1795888713';
const FAILS = 'return 1';
const finds = (time: string) =>
  `case $* in */state*) printf '${BEGAN}\\n' ;; *%i*) printf '42 ${time}\\n' ;; *) printf '${time}\\n' ;; esac`;

/** Runs functions of the script with a `find` of this body. */
const run = (find: string, script: string, variables: Record<string, string> = {}) =>
  execa('/bin/sh', ['-c', `${FUNCTIONS}\nfind() { ${find}; }\n${script}`], {
    env: { device: '7:1', source: '/file', file: '/file', ...variables },
    reject: false,
  });

test.each<[what: string, word: string, noted: string, find: string, printed: string]>([
  ['the same ctime', 'frozen', '42 1795888713.855329851', finds(FROZEN), 'thawed'],
  ['another ctime', 'frozen', '42 1795888713.855329852', finds(FROZEN), 'removed'],
  ['no ctime on record', 'frozen', '', finds(FROZEN), 'removed'],
  ['no ctime on record, nor readable', 'frozen', '', FAILS, ''],
  ['a ctime that cannot be read', 'frozen', '42 1795888713.855329851', FAILS, ''],
  ['a find of whole seconds', 'frozen', '42 1795888713', finds(WHOLE), ''],
  ['a ctime in the time of the freeze', 'freezing', '5', finds(FROZEN), 'thawed'],
  ['a ctime after it', 'freezing', '5', finds('1795888719.0000000000'), 'removed'],
  ['times that cannot be read', 'freezing', '5', FAILS, ''],
])(
  'an interrupted freeze is known by the times of its file: %s, state %s %s',
  async (...[, word, noted, find, printed]) => {
    const script = `cat() { echo /file; }
readlink() { echo /file; }
(is_left /record || { echo removed; exit 0; }; echo thawed)`;
    const { exitCode, stdout, stderr } = await run(find, script, { word, noted });
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: printed === '' ? 1 : 0,
      stdout: printed,
      stderr: '',
    });
  },
);

test.each([
  ['prints fractions of a second', finds(FROZEN), 0],
  ['prints whole seconds', finds(WHOLE), 1],
  ['fails, as that of busybox', FAILS, 1],
])(
  'nothing is frozen unless the end of the freeze can be proven: find %s',
  async (_, find, exit) => {
    const { exitCode, stderr } = await run(find, 'has_facts');
    expect(exitCode).toBe(exit);
    expect(stderr === '').toBe(exit === 0);
  },
);

test.each([
  ['notes the ctime', finds(FROZEN), 'frozen\n7:1\n/file\n42 1795888713.855329851\n'],
  ['keeps its earlier state without a ctime', FAILS, 'freezing\n'],
])('a freeze %s', async (_, find, state) => {
  const folder = await temporaryDirectory('freeze-facts');
  try {
    const dir = join(folder.path, 'left');
    await mkdir(dir);
    await run(find, 'echo freezing >"$dir/state"; note_frozen', { dir });
    expect(await readFile(join(dir, 'state'), 'utf8')).toBe(state);
  } finally {
    await folder.remove();
  }
});
