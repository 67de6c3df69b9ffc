import { chown, lstat, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { describeAsRoot } from '../support/root.ts';
import { error, step, sudoScene, WITHIN } from '../support/sudo-scene.ts';

describeAsRoot('refusals for a user other than root', () => {
  const sudo = sudoScene();

  describe.each(sudo.transports)('over %s', (_, connect) => {
    let executor: Executor;
    beforeEach(() => {
      executor = connect();
    });
    afterEach(async () => {
      await executor.purge('n1', sudo.subject);
      await executor.close();
    });

    test('the directory of jobs is owned by the user, and its parent by root', async () => {
      expect(await executor.poll('n1', [{ subject: sudo.subject, id: 'a' }], 0)).toEqual([
        { state: 'not-found' },
      ]);
      await rm(join(sudo.user.run, 'jobs'), { recursive: true, force: true });
      expect(await executor.submit('n1', sudo.job(), WITHIN)).toEqual({ state: 'succeeded' });
      const jobs = await lstat(join(sudo.user.run, 'jobs'));
      expect(jobs.mode & 0o777).toBe(0o700);
      expect(jobs.uid).not.toBe(0);
      expect((await lstat(sudo.user.run)).uid).toBe(0);
    });

    test.each([
      ["another user's", async (jobs: string) => chown(jobs, 0, 0)],
      [
        'a link',
        async (jobs: string) => {
          await rename(jobs, `${jobs}.real`);
          await symlink(`${jobs}.real`, jobs);
        },
      ],
      [
        'a file',
        async (jobs: string) => {
          await rename(jobs, `${jobs}.real`);
          await writeFile(jobs, '');
        },
      ],
    ])('a directory of jobs that is %s is refused, never "not found"', async (__, change) => {
      const jobs = join(sudo.user.run, 'jobs');
      await executor.submit('n1', sudo.job(), WITHIN);
      await change(jobs);
      try {
        const key = { subject: sudo.subject, id: 'a' };
        for (const asked of [
          executor.poll('n1', [key], 0),
          executor.submit('n1', sudo.job(), 0),
          executor.purge('n1', sudo.subject),
          executor.subjects('n1'),
        ]) {
          const refused = await error(asked);
          expect(refused).toBeInstanceOf(NodeError);
          expect(refused).toMatchObject({
            code: 'refused',
            message: expect.stringContaining(
              `/run/stowage/jobs is not a directory of user ${sudo.user.name}`,
            ),
          });
        }
      } finally {
        await rm(jobs, { recursive: true, force: true });
        await rm(`${jobs}.real`, { recursive: true, force: true });
      }
    });

    const refusals: [string, () => Promise<string>, string][] = [
      [
        'is not allowed',
        async () => {
          const file = await sudo.program('unlisted', 'exit 1');
          await sudo.user.allow([]);
          return file;
        },
        'run as root without a password',
      ],
      [
        'needs a password',
        () => sudo.program('secret', 'exit 1', 'PASSWD:'),
        'a password is required',
      ],
      [
        'is not started by a broken sudoers',
        () => sudo.program('broken', 'exit 1', 'CWD=/nowhere NOPASSWD:'),
        'unable to change directory',
      ],
    ];
    test.each(refusals)(
      'a program that %s is refused in a probe, a precondition and a step',
      async (what, make, said) => {
        const file = await make();
        const check = async (work: Promise<unknown>) => {
          const refused = await error(work);
          expect(refused).toBeInstanceOf(NodeError);
          expect(refused).toMatchObject({
            code: 'refused',
            message: expect.stringMatching(
              `^node n1: sudo does not let user ${sudo.user.name} run '${file}'`,
            ),
            hint: expect.stringContaining('stowage print sudoers'),
          });
          if (what !== 'is not allowed') expect((refused as Error).message).toContain(said);
        };
        await check(executor.observe('n1', [{ name: 'a', argv: [file] }]));
        const precondition = { argv: [file], expect: { exit: 1 }, refusal: 'other' };
        await check(
          executor.submit(
            'n1',
            sudo.job({ ...step('test', '-S', '/x'), preconditions: [precondition] }),
            WITHIN,
          ),
        );
        await check(executor.submit('n1', sudo.job(step(file)), WITHIN));
        // Once the command is allowed, the same job is submitted again.
        expect(await executor.poll('n1', [{ subject: sudo.subject, id: 'a' }], 0)).toEqual([
          { state: 'not-found' },
        ]);
        await sudo.user.allow([`USER ALL = (root) NOPASSWD: ${file}`]);
        expect(await executor.submit('n1', sudo.job(step(file)), WITHIN)).toMatchObject({
          state: 'failed',
          exit: 1,
        });
      },
    );
  });

  test('a node without sudo is refused', async () => {
    const bin = join(sudo.directory, 'without-sudo');
    await mkdir(bin);
    for (const name of await readdir('/usr/bin')) {
      if (name !== 'sudo' && name !== 'sh') await symlink(join('/usr/bin', name), join(bin, name));
    }
    await symlink(join(sudo.user.bin, 'sh'), join(bin, 'sh'));
    process.env.PATH = bin;
    const executor = createShellExecutor(createLocalShell(['n1']));
    await expect(executor.observe('n1', [{ name: 'a', argv: ['lsblk'] }])).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('sudo: not found'),
    });
  });
});
