import { randomUUID } from 'node:crypto';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor, Job, Step } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/shell-executor.ts';
import { createSshShell } from '../../src/nodes/ssh-shell.ts';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { carryOut } from '../support/carry-out.ts';
import { leftovers } from '../support/leftovers.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { makeSudoUser, type SudoUser } from '../support/sudo-user.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const SPARSE = '/var/lib/metalk8s/storage/sparse';
const RECORDS = '/var/lib/stowage/volumes';
const UID = '0b9cbd1c-5e26-4d13-9d6c-7f1f4d0d4b5e';

describeAsRoot('a user who is not root', () => {
  let user: SudoUser;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let stopUdev: () => Promise<void>;
  let subject: string;
  const path = process.env.PATH;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    folder = await temporaryFolder('sudo-programs');
    await chmod(folder.path, 0o755);
    user = await makeSudoUser();
  });
  afterAll(async () => {
    await user?.remove();
    await folder?.remove();
    await stopUdev?.();
  });
  beforeEach(() => {
    subject = randomUUID();
  });
  afterEach(() => {
    process.env.PATH = path;
  });

  /** A program of root's that the user may run, as a test writes it. */
  async function program(name: string, text: string, rule = 'NOPASSWD:'): Promise<string> {
    const file = join(folder.path, name);
    await writeFile(file, `#!/bin/sh\n${text}\n`);
    await chmod(file, 0o755);
    await user.allow([`USER ALL = (root) ${rule} ${file}`]);
    return file;
  }

  const transports: [string, () => Executor][] = [
    [
      'local',
      () => {
        process.env.PATH = `${user.bin}:${path}`;
        return createShellExecutor(createLocalShell(['n1']));
      },
    ],
    [
      'ssh',
      () => createShellExecutor(createSshShell({ configFile: user.sshd.configFile, addressOf: () => ({}) })),
    ],
  ];

  describe.each(transports)('over %s', (_, connect) => {
    let executor: Executor;
    beforeEach(() => {
      executor = connect();
    });
    afterEach(async () => {
      await executor.forget('n1', subject);
      await executor.close();
    });

    const step = (...argv: string[]): Step => ({ name: `run ${argv[0]}`, argv, guards: [] });
    const job = (...steps: Step[]): Job => ({ key: { subject, id: 'a' }, steps });
    const error = (work: Promise<unknown>) =>
      work.then(
        (value) => Promise.reject(new Error(`no error, but ${JSON.stringify(value)}`)),
        (thrown: unknown) => thrown,
      );

    test('the whole life of a volume, with no more than the sample allows', async () => {
      await user.allow([]);
      const uid = subject;
      const desired: DesiredSparse = {
        type: 'sparse',
        uid,
        name: 'data1',
        mode: 'Filesystem',
        file: `${SPARSE}/${uid}`,
        sizeBytes: 16n << 20n,
        fs: {
          type: 'ext4',
          options: ['-m', '0', '-E', 'nodiscard,lazy_itable_init=0', '-O', '^has_journal', '-L', 'data'],
        },
        recorded: false,
        onDelete: 'Delete',
      };
      try {
        const prepared = await carryOut(executor, 'n1', 'prepare', desired);
        expect(prepared).toMatchObject({
          done: { sizeBytes: desired.sizeBytes },
          link: expect.stringMatching(/^7:/),
        });
        expect(await carryOut(executor, 'n1', 'absent', desired)).toMatchObject({ link: undefined });
        const present = await carryOut(executor, 'n1', 'present', desired);
        expect(present).toMatchObject({ link: expect.stringMatching(/^7:/) });
        expect((await lstat(desired.file)).uid).toBe(0);
        expect(await carryOut(executor, 'n1', 'destroy', desired)).toMatchObject({
          file: { type: 'missing' },
          recordFiles: false,
          link: undefined,
        });
        expect(await executor.subjects('n1')).toContain(uid);
        expect(await executor.forget('n1', uid)).toBe(true);
        expect(await executor.subjects('n1')).not.toContain(uid);
        expect((await leftovers({ uids: [uid] })).filter((fault) => fault.includes(uid))).toEqual([]);
      } finally {
        await removeTraces(uid, desired.file);
      }
    });

    test('the folder of jobs is the user’s alone, and the one above it is not', async () => {
      expect(await executor.poll('n1', [{ subject, id: 'a' }], 0)).toEqual([{ state: 'not-found' }]);
      await rm(join(user.run, 'jobs'), { recursive: true, force: true });
      expect(await executor.submit('n1', job(), 5000)).toEqual({ state: 'succeeded' });
      const jobs = await lstat(join(user.run, 'jobs'));
      expect(jobs.mode & 0o777).toBe(0o700);
      expect(jobs.uid).not.toBe(0);
      expect((await lstat(user.run)).uid).toBe(0);
    });

    test.each([
      ['another user’s', async (jobs: string) => chown(jobs, 0, 0)],
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
    ])('a folder of jobs that is %s is refused, never "not found"', async (__, change) => {
      const jobs = join(user.run, 'jobs');
      await executor.submit('n1', job(), 5000);
      await change(jobs);
      try {
        const key = { subject, id: 'a' };
        for (const asked of [
          executor.poll('n1', [key], 0),
          executor.submit('n1', job(), 0),
          executor.forget('n1', subject),
          executor.subjects('n1'),
        ]) {
          const refused = await error(asked);
          expect(refused).toBeInstanceOf(NodeError);
          expect(refused).toMatchObject({
            code: 'refused',
            message: expect.stringContaining(`/run/stowage/jobs is not a folder of user ${user.name}`),
          });
        }
      } finally {
        await rm(jobs, { recursive: true, force: true });
        await rm(`${jobs}.real`, { recursive: true, force: true });
      }
    });

    test('LC_ALL=C reaches programs under sudo', async () => {
      const print = await program('print', 'printenv LC_ALL');
      const seen = await executor.observe('n1', [{ name: 'a', argv: [print] }]);
      expect(seen.get('a')).toEqual({ exit: 0, stdout: 'C', stderr: '' });
    });

    test.each([0, 1, 2, 126, 127])('status %d of a program is its own', async (status) => {
      const exit = await program('exit', `echo out; echo err >&2; exit ${status}`);
      const seen = await executor.observe('n1', [{ name: 'a', argv: [exit] }]);
      expect(seen.get('a')).toEqual({ exit: status, stdout: 'out', stderr: 'err' });
      const guard = { argv: [exit], expect: { exit: status }, refusal: 'other' };
      const state = await executor.submit('n1', job({ ...step(exit), guards: [guard] }), 5000);
      expect(state).toMatchObject(
        status === 0 ? { state: 'succeeded' } : { state: 'failed', exit: status, output: 'err\nout\nerr\n' },
      );
    });

    test('a warning of sudo’s is no refusal', async () => {
      const warn = await program('warn', 'echo "sudo: unable to resolve host n1" >&2; exit 1');
      const seen = await executor.observe('n1', [{ name: 'a', argv: [warn] }]);
      expect(seen.get('a')?.exit).toBe(1);
    });

    test('a program that the node lacks', async () => {
      const seen = await executor.observe('n1', [{ name: 'a', argv: ['no-such-program'] }]);
      expect(seen.get('a')?.exit).toBe(127);
      expect(await executor.submit('n1', job(step('no-such-program')), 5000)).toMatchObject({
        state: 'failed',
        exit: 127,
      });
    });

    const refusals: [string, () => Promise<string>, string][] = [
      [
        'is not allowed',
        async () => {
          const file = await program('unlisted', 'exit 1');
          await user.allow([]);
          return file;
        },
        'run as root without a password',
      ],
      ['needs a password', () => program('secret', 'exit 1', 'PASSWD:'), 'a password is required'],
      [
        'is not started by a broken sudoers',
        () => program('broken', 'exit 1', 'CWD=/nowhere NOPASSWD:'),
        'unable to change directory',
      ],
    ];
    test.each(refusals)(
      'a program that %s is refused in a probe, a guard and a step',
      async (what, make, said) => {
        const file = await make();
        const check = async (work: Promise<unknown>) => {
          const refused = await error(work);
          expect(refused).toBeInstanceOf(NodeError);
          expect(refused).toMatchObject({
            code: 'refused',
            message: expect.stringMatching(`^node n1: sudo does not let user ${user.name} run '${file}'`),
            hint: expect.stringContaining('deploy/sudoers'),
          });
          if (what !== 'is not allowed') expect((refused as Error).message).toContain(said);
        };
        await check(executor.observe('n1', [{ name: 'a', argv: [file] }]));
        const guard = { argv: [file], expect: { exit: 1 }, refusal: 'other' };
        await check(executor.submit('n1', job({ ...step('test', '-S', '/x'), guards: [guard] }), 5000));
        await check(executor.submit('n1', job(step(file)), 5000));
        // Once it may run, the same job is tried again.
        expect(await executor.poll('n1', [{ subject, id: 'a' }], 0)).toEqual([{ state: 'not-found' }]);
        await user.allow([`USER ALL = (root) NOPASSWD: ${file}`]);
        expect(await executor.submit('n1', job(step(file)), 5000)).toMatchObject({
          state: 'failed',
          exit: 1,
        });
      },
    );

    test('a job whose shell was killed runs as long as its program under sudo, then has died', async () => {
      const wait = await program(
        'wait',
        `echo "$$" >${folder.path}/pid.new; mv ${folder.path}/pid.new ${folder.path}/pid; until [ -e ${folder.path}/go ]; do sleep 0.02; done`,
      );
      await executor.submit('n1', job(step(wait)), 0);
      const pid = await until('the program runs', 5000, () =>
        readFile(join(folder.path, 'pid'), 'utf8').then(Number, () => undefined),
      );
      const sudo = await parentOf(pid);
      const shell = await parentOf(sudo);
      try {
        process.kill(shell, 'SIGKILL');
        const poll = (waitMs: number) => executor.poll('n1', [{ subject, id: 'a' }], waitMs);
        expect(await poll(200)).toMatchObject([{ state: 'running' }]);
        // Also without the sudo that waits for it, and that has the other lock.
        process.kill(sudo, 'SIGKILL');
        expect(await poll(200)).toMatchObject([{ state: 'running' }]);
        expect(await executor.forget('n1', subject)).toBe(false);
        const next: Job = { key: { subject, id: 'b' }, steps: [step('test', '-S', '/run/udev/control')] };
        expect(await executor.submit('n1', next, 200)).toEqual({ state: 'running' });
        await writeFile(join(folder.path, 'go'), '');
        expect(await poll(5000)).toMatchObject([{ state: 'died', step: { name: `run ${wait}` } }]);
        expect(await executor.poll('n1', [next.key], 5000)).toEqual([{ state: 'succeeded' }]);
      } finally {
        await writeFile(join(folder.path, 'go'), '');
        await rm(join(folder.path, 'pid'));
        await until('the program ends', 5000, async () =>
          (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')) === '' ? true : undefined,
        );
        await rm(join(folder.path, 'go'));
      }
    });
  });

  test('a node without sudo', async () => {
    const bin = join(folder.path, 'without-sudo');
    await mkdir(bin);
    for (const name of await readdir('/usr/bin')) {
      if (name !== 'sudo' && name !== 'sh') await symlink(join('/usr/bin', name), join(bin, name));
    }
    await symlink(join(user.bin, 'sh'), join(bin, 'sh'));
    process.env.PATH = bin;
    const executor = createShellExecutor(createLocalShell(['n1']));
    await expect(executor.observe('n1', [{ name: 'a', argv: ['lsblk'] }])).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('sudo: not found'),
    });
  });

  const file = `${SPARSE}/${UID}`;
  test.each([
    [['sh']],
    [['bash', '-c', 'id']],
    [['rm', '-rf', '/']],
    [['rm', '-f', '--', '/etc/passwd']],
    [['rm', '-f', '--', `${SPARSE}/../../../../etc/passwd`]],
    [['rm', '-f', '--', file, '/etc/passwd']],
    [['rm', '-rf', '--', file]],
    [['rm', '-f', `${RECORDS}/${UID}.done`, '/etc/passwd']],
    [['cat', '/etc/shadow']],
    [['cat', `${RECORDS}/${UID}.done`, '/etc/shadow']],
    [['cat', `${RECORDS}/../../../../etc/shadow`]],
    [['dd', 'if=/dev/zero', 'of=/dev/sda']],
    [['dd', `of=${RECORDS}/../../../../dev/sda`, 'conv=fsync', 'status=none']],
    [['dd', `of=${RECORDS}/${UID}.done.new`, 'conv=fsync', 'status=none', 'of=/dev/sda']],
    [['dd', `if=${file}`, 'of=/dev/sda', 'bs=64K', 'count=1', 'status=none']],
    [['mkfs.ext4', '-q', '-F', '-U', UID, '/dev/sda']],
    [['mkfs.ext4', '-q', '-F', '-U', UID, file]],
    [['mkfs.ext4', '-q', '-F', '-d', '/etc', '-U', UID, `${file}.partial`]],
    [['mkfs.ext4', '-q', '-F', '-E', 'offset=4096', '-U', UID, `${file}.partial`]],
    [['mkfs.ext4', '-q', '-F', '-J', 'device=/dev/sda', '-U', UID, `${file}.partial`]],
    [['mkfs.ext4', '-q', '-F', '-L', 'x -d /etc', '-U', UID, `${file}.partial`]],
    [['truncate', '-s', '0', '--', '/etc/passwd']],
    [['truncate', '-s', '0', '--', file]],
    [['losetup', '/dev/loop7', '/etc/shadow']],
    [['losetup', '/dev/loop7', '/dev/sda']],
    [['losetup', '-D']],
    [['mv', '-T', '--', `${file}.partial`, '/etc/sudoers.d/x']],
    [['mv', '-T', '--', '/etc/shadow', file]],
    [['install', '-d', '-m', '0777', '/etc']],
    [['install', '-d', '-m', '0700', '-o', 'stowage', '/run/stowage']],
    [['mkdir', '-p', '-m', '0777', '--', SPARSE]],
    [['find', '/', '-exec', 'sh', ';']],
    [['find', RECORDS, '-maxdepth', '1', '-name', `${UID}.*`, '-delete']],
    [['find', '/sys/block/loop7/holders', '-mindepth', '1', '-delete']],
    [['udevadm', 'trigger']],
    [['udevadm', 'control', '--property=A=b']],
    [['stat', '/root']],
    [['readlink', '-m', '--', '/root/x']],
    [['sync', '/etc/shadow']],
    [['flock', '/dev/sda', 'sh']],
    [['mount', '/dev/sda', '/mnt']],
  ])('may not run %j', async (argv) => {
    await user.allow([]);
    expect(await user.may(argv)).toBe(false);
  });

  test.each([
    [['cat', `${RECORDS}/${UID}.done`]],
    [['rm', '-f', '--', file]],
    [['mkfs.ext4', '-q', '-F', '-E', 'stride=4,nodiscard', '-U', UID, `${file}.partial`]],
  ])('but may run %j', async (argv) => {
    await user.allow([]);
    expect(await user.may(argv)).toBe(true);
  });
});

async function parentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]);
}
