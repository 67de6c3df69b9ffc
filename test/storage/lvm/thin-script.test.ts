import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { scriptArgv } from '../../../src/storage/scripts/scripts.ts';
import { localJobs } from '../../support/local-jobs.ts';
import { UID } from '../../support/volume-input.ts';

const COPY = '99999999-2222-4333-8444-555555555555';
const ARGUMENTS = ['devices{}', 'vg0/data', UID, 'snap', COPY, 'r'];

/** Runs the script with a `timeout` that ends so; returns the devices that it resumed. */
async function takeThin(exit: number) {
  const said = `echo "$*" >>"$(dirname "$0")/resumed"`;
  const node = await localJobs({
    lvs: 'case $* in *pool_lv*--select*lv_tags*uid=*) echo "  pool" ;; esac',
    dmsetup: `case $1 in info) echo Suspended ;; resume) ${said} ;; esac`,
    timeout: `exit ${exit}`,
  });
  try {
    const [program = '', ...args] = scriptArgv('stowage-thin', ...ARGUMENTS);
    const bin = join(node.path, 'bin');
    const env = { PATH: `${bin}:${process.env.PATH}` };
    const { exitCode } = await execa(program, args, { env, reject: false });
    const resumed = await readFile(join(bin, 'resumed'), 'utf8').catch(() => '');
    return { exitCode, resumed: resumed.split('\n').filter((line) => line !== '') };
  } finally {
    await node.remove();
  }
}

/** A status of lvcreate itself is below 124: it has resumed its devices. */
test.each([
  ['GNU timeout, which ends itself by KILL', 137, true],
  ['timeout of uutils coreutils, 0.0.17 to 0.12', 124, true],
  ['a timeout that could not run lvcreate', 126, true],
  ['an lvcreate that failed', 5, false],
])('devices that a killed lvcreate left suspended are resumed: %s', async (_, exit, resumes) => {
  const { exitCode, resumed } = await takeThin(exit);
  expect(exitCode).toBe(exit);
  expect(new Set(resumed)).toEqual(
    new Set(
      resumes
        ? ['vg0-pool-tpool', 'vg0-pool', 'vg0-data'].map((name) => `resume --noudevsync ${name}`)
        : [],
    ),
  );
});
