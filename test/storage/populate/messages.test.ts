import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';

const lineOf = (file: string, name: string) =>
  new RegExp(`^${name}\\(\\) .*$`, 'm').exec(
    readFileSync(`src/storage/scripts/${file}`, 'utf8'),
  )?.[0] ?? '';
const FUNCTIONS = [lineOf('fetch.sh', 'fail'), lineOf('mount.sh', 'printable')].join('\n');

/** Beginnings of commands that behave as the tr of uutils coreutils. */
const TR = {
  'uutils 0.0.17': 'tr() { case $1 in -c) : ;; *) command tr "$@" ;; esac; }',
  'uutils 0.0.30': 'tr() { command tr "$@" | case $1 in -c) sed "s/ /?/g" ;; *) cat ;; esac; }',
  GNU: '',
};

const run = (tr: string, script: string, given: string) =>
  execa('/bin/sh', ['-c', `${TR[tr as keyof typeof TR]}\n${FUNCTIONS}\n${script}`, 'sh', given], {
    env: { LC_ALL: 'C' },
    reject: false,
  });

test.each(
  Object.keys(TR).flatMap((tr) => [
    [tr, 'dd: IO error: No space left on device', 'dd: IO error: No space left on device'],
    [tr, 'stowage-missing zstd\nno zstd', 'stowage-missing zstd\nno zstd'],
    [tr, 'a\u001b[1m\tb\u00e9', 'a?[1m?b??'],
  ]),
)('a message of a script keeps what is printable, with tr of %s: %j', async (tr, given, kept) => {
  const { exitCode, stderr } = await run(tr, 'fail "$1"', given);
  expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: kept });
  const { stdout } = await run(tr, 'printf "%s\\n" "$1" | printable', given);
  expect(stdout).toBe(kept.split('\n')[0]);
});
