import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Executor, Job, Precondition, Step } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import { describeAsRoot } from '../support/root.ts';
import { makeSudoUser, type SudoUser } from '../support/sudo-user.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

/** Timeout in ms. Only bounds the wait for a job that never ends. */
const WITHIN = 120_000;
const PROGRAMS = ['ok', 'fail', 'free', 'wait'];

describeAsRoot('the lock of a disk', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let user: SudoUser;
  let device: string;
  /** A device that the user's rules do not contain. */
  let other: string;
  let subject: string;
  const path = process.env.PATH;

  beforeAll(async () => {
    folder = await temporaryDirectory('lock');
    await chmod(folder.path, 0o755);
    await program('ok', 'true');
    await program('fail', 'exit 3');
    await program('free', `exec /usr/bin/flock -n "$1" true`);
    await program(
      'wait',
      `cd ${folder.path}; echo "$$" >pid.new; mv pid.new pid; until [ -e go ] || [ ! -e ${folder.path} ]; do sleep 0.02; done`,
    );
    // A flock that times out after one second instead of sixty.
    await program(
      'flock',
      'n=$#; for each; do shift; [ "$each" != 60 ] || each=1; set -- "$@" "$each"; done; exec /usr/bin/flock "$@"',
    );
    device = await loop('disk');
    other = await loop('other');
    user = await makeSudoUser();
    await user.allow([
      `Defaults:USER secure_path="${folder.path}:/usr/sbin:/usr/bin"`,
      `USER ALL = (root) NOPASSWD: ${PROGRAMS.map((name) => join(folder.path, name)).join(', ')}`,
      `USER ALL = (root) NOPASSWD: ${folder.path}/flock ^-x -w 60 ${device} cat$`,
    ]);
  });
  afterAll(async () => {
    await user?.remove();
    for (const each of [device, other]) if (each) await execa('losetup', ['-d', each]);
    await folder?.remove();
  });
  beforeEach(() => {
    subject = randomUUID();
    process.env.PATH = `${folder.path}:${path}`;
  });
  afterEach(() => {
    process.env.PATH = path;
  });

  async function loop(name: string): Promise<string> {
    const file = join(folder.path, name);
    await writeFile(file, '');
    await truncate(file, 1 << 20);
    return (await execa('losetup', ['-f', '--show', file])).stdout;
  }

  async function program(name: string, text: string): Promise<void> {
    await writeFile(join(folder.path, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(folder.path, name), 0o755);
  }

  const logins: [string, () => Executor][] = [
    ['root', () => createShellExecutor(createLocalShell(['n1']))],
    [
      'a user with sudo',
      () =>
        createShellExecutor(
          createSshShell({ configFile: user.sshd.configFile, addressOf: () => ({}) }),
        ),
    ],
  ];

  describe.each(logins)('for %s', (_, connect) => {
    let executor: Executor;
    beforeEach(() => {
      executor = connect();
    });
    afterEach(async () => {
      await rm(join(folder.path, 'go'), { force: true });
      await rm(join(folder.path, 'pid'), { force: true });
      expect(await isFree()).toBe(true);
      await until('the job ends', async () =>
        (await executor.purge('n1', subject)) ? true : undefined,
      );
      await executor.close();
    });

    const isFree = async () =>
      (await execa('flock', ['-n', device, 'true'], { reject: false })).exitCode === 0;
    const becomesFree = () =>
      until('the lock is free', async () => ((await isFree()) ? true : undefined));
    const free = (exit: number): Precondition => ({
      argv: [join(folder.path, 'free'), device],
      expect: { exit },
      refusal: exit === 0 ? 'it is locked' : 'it is not locked',
    });
    const step = (name: string, more: Partial<Step> = {}): Step => ({
      name,
      argv: [join(folder.path, name)],
      preconditions: [],
      ...more,
    });
    const job = (...steps: Step[]): Job => ({ key: { subject, id: 'a' }, steps });
    const run = (submitted: Job) => executor.submit('n1', submitted, WITHIN);
    const pid = () =>
      until('the program runs', () =>
        readFile(join(folder.path, 'pid'), 'utf8').then(Number, () => undefined),
      );
    const go = () => writeFile(join(folder.path, 'go'), '');

    test('is held while preconditions run, and not in a step without a lock', async () => {
      const locked = step('ok', { lock: device, preconditions: [free(1)] });
      expect(await run(job(locked, locked, step('ok', { preconditions: [free(0)] })))).toEqual({
        state: 'succeeded',
      });
    });

    test('is held while the program runs, and free after it', async () => {
      await executor.submit('n1', job(step('wait', { lock: device })), 0);
      await pid();
      expect(await isFree()).toBe(false);
      await go();
      expect(await executor.poll('n1', [{ subject, id: 'a' }], WITHIN)).toEqual([
        { state: 'succeeded' },
      ]);
      await becomesFree();
    });

    test.each<[string, () => Step, object]>([
      ['a step that fails', () => step('fail', { lock: device }), { state: 'failed', exit: 3 }],
      [
        'a precondition that does not hold',
        () => step('ok', { lock: device, preconditions: [free(0)] }),
        { state: 'guarded', refusal: 'it is locked' },
      ],
    ])('is free after %s', async (__, ending, state) => {
      expect(await run(job(ending()))).toMatchObject(state);
      await becomesFree();
    });

    test('is kept by the program of a job whose shell was killed', async () => {
      await executor.submit('n1', job(step('wait', { lock: device })), 0);
      const running = await pid();
      const parent = await parentOf(running);
      // With sudo, the shell is the parent of sudo.
      const shell =
        (await readFile(`/proc/${parent}/comm`, 'utf8')) === 'sudo\n'
          ? await parentOf(parent)
          : parent;
      process.kill(shell, 'SIGKILL');
      expect(await executor.poll('n1', [{ subject, id: 'a' }], 300)).toMatchObject([
        { state: 'running' },
      ]);
      expect(await isFree()).toBe(false);
      await go();
      expect(await executor.poll('n1', [{ subject, id: 'a' }], WITHIN)).toMatchObject([
        { state: 'died' },
      ]);
      await becomesFree();
    });

    test('is waited for while another program holds it', async () => {
      const holder = execa('/usr/bin/flock', [device, 'cat'], { stdin: 'pipe' });
      await until('the lock is held', async () => ((await isFree()) ? undefined : true));
      // A lock as udev holds it.
      expect(await executor.submit('n1', job(step('ok', { lock: device })), 300)).toMatchObject({
        state: 'running',
      });
      holder.stdin?.end();
      await holder;
      expect(await executor.poll('n1', [{ subject, id: 'a' }], WITHIN)).toEqual([
        { state: 'succeeded' },
      ]);
    });

    test.each([
      [undefined, 'failed'],
      [true, 'raced'],
    ])(
      'times out: with failureMeansConflict %s the step has %s',
      async (failureMeansConflict, state) => {
        const holder = execa('/usr/bin/flock', ['-s', device, 'cat'], { stdin: 'pipe' });
        await until('the lock is held', async () => ((await isFree()) ? undefined : true));
        try {
          expect(
            await run(
              job(
                step('ok', {
                  lock: device,
                  ...(failureMeansConflict ? { failureMeansConflict } : {}),
                }),
              ),
            ),
          ).toMatchObject({
            state,
            exit: 1,
            output: expect.stringContaining(`${device} was locked by another program`),
          });
        } finally {
          holder.stdin?.end();
          await holder;
        }
      },
    );

    test('fails for a device that does not exist, without creating a file', async () => {
      const lock = `/dev/${subject}`;
      expect(await run(job(step('ok', { lock })))).toMatchObject({
        state: 'failed',
        output: `${lock} is no block device\n`,
      });
      expect(existsSync(lock)).toBe(false);
    });
  });

  test('is refused if sudo does not allow it', async () => {
    const [, [, connect]] = logins as [unknown, (typeof logins)[0]];
    const executor = connect();
    const step: Step = {
      name: 'x',
      argv: [join(folder.path, 'ok')],
      preconditions: [],
      lock: other,
    };
    await expect(
      executor.submit('n1', { key: { subject, id: 'a' }, steps: [step] }, WITHIN),
    ).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining(`run 'flock -x -w 60 ${other} cat'`),
    });
    await executor.purge('n1', subject);
    await executor.close();
  });
});

async function parentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]);
}
