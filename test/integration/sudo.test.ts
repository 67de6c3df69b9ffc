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
import { deviceOf, type VolumeDevice } from '../../src/storage/device.ts';
import { EXT4_OPTIONS } from '../../src/storage/ext4-options.ts';
import { mkfs } from '../../src/storage/mkfs.ts';
import { checkMkfsOptions } from '../../src/storage/mkfs-options.ts';
import type { Desired, DesiredSparse, Operation } from '../../src/storage/types.ts';
import { XFS_OPTIONS } from '../../src/storage/xfs-options.ts';
import { carryOut, observe, planNow } from '../support/carry-out.ts';
import { CONTENTS, type Kinds, recordedAs, setUpKinds } from '../support/kinds.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { leftovers } from '../support/leftovers.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { makeSudoUser, type SudoUser } from '../support/sudo-user.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

/** Ends only the wait for a job that never ends, in ms. */
const WITHIN = 120_000;
const SPARSE = '/var/lib/metalk8s/storage/sparse';
const RECORDS = '/var/lib/stowage/volumes';
const MOUNTS = '/run/stowage/mounts';
const MOUNT = 'nosuid,nodev,noexec';
const UID = '0b9cbd1c-5e26-4d13-9d6c-7f1f4d0d4b5e';
/** Without what says where the partition is. */
const GPT = ['--clear', `--partition-guid=1:${UID}`, `--disk-guid=${UID}`, '--change-name=1:data1'];
/** What `dd` is told to wipe a device. */
const zeros = (path: string) => [
  'if=/dev/zero',
  `of=${path}`,
  'bs=1M',
  'iflag=count_bytes',
  'oflag=seek_bytes,direct',
  'seek=0',
  'count=4096',
  'conv=notrunc,nocreat,fsync',
  'status=none',
];
/** For each option of mkfs, all that is allowed of its value at once. */
const EXT4_VALUES: Readonly<Record<string, string>> = {
  '-b': '4096',
  '-C': '64k',
  '-e': 'remount-ro',
  '-E': 'discard,nodiscard,lazy_itable_init=0,lazy_journal_init=1,mmp_update_interval=5,num_backup_sb=1,orphan_file_size=4M,packed_meta_blocks=1,quotatype=usrquota:grpquota,resize=9G,root_owner=0:0,stride=4,stripe_width=8,stripe-width=8',
  '-g': '8192',
  '-G': '16',
  '-i': '16384',
  '-I': '256',
  '-J': 'size=4,fast_commit_size=1',
  '-L': 'data-1_a.b',
  '-m': '0.5',
  '-N': '100',
  '-O': '^has_journal,64bit',
  '-r': '1',
  '-t': 'ext4',
  '-T': 'news,largefile4',
};
const XFS_VALUES: Readonly<Record<string, string>> = {
  '-b': 'size=4k',
  '-d': 'agcount=4,agsize=64m,su=64k,sw=2,sunit=8,swidth=16,noalign=1,rtinherit=0,projinherit=3,extszinherit=4,cowextsize=8,daxinherit=1',
  '-i': 'size=512,perblock=8,maxpct=25,align=1,attr=2,projid32bit=1,sparse=1,nrext64=0',
  '-l': 'size=64m,version=2,sunit=8,su=32k,lazy-count=1',
  '-L': 'data-1_a.b',
  '-m': 'bigtime=1,crc=1,finobt=1,inobtcount=1,reflink=0,rmapbt=1',
  '-n': 'size=8k,version=ci,ftype=1',
  '-s': 'size=4096',
};

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
        onDemand: false,
        readOnly: false,
        shared: false,
        kubeletRoot: '/var/lib/kubelet',
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
      expect(await executor.submit('n1', job(), WITHIN)).toEqual({ state: 'succeeded' });
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
      await executor.submit('n1', job(), WITHIN);
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
      const state = await executor.submit('n1', job({ ...step(exit), guards: [guard] }), WITHIN);
      expect(state).toMatchObject(
        status === 0
          ? { state: 'succeeded' }
          : // Not what the guard printed, which held.
            { state: 'failed', exit: status, output: 'out\nerr\n' },
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
      expect(await executor.submit('n1', job(step('no-such-program')), WITHIN)).toMatchObject({
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
        await check(executor.submit('n1', job({ ...step('test', '-S', '/x'), guards: [guard] }), WITHIN));
        await check(executor.submit('n1', job(step(file)), WITHIN));
        // Once it may run, the same job is tried again.
        expect(await executor.poll('n1', [{ subject, id: 'a' }], 0)).toEqual([{ state: 'not-found' }]);
        await user.allow([`USER ALL = (root) NOPASSWD: ${file}`]);
        expect(await executor.submit('n1', job(step(file)), WITHIN)).toMatchObject({
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
      const pid = await until('the program runs', () =>
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
        expect(await poll(WITHIN)).toMatchObject([{ state: 'died', step: { name: `run ${wait}` } }]);
        expect(await executor.poll('n1', [next.key], WITHIN)).toEqual([{ state: 'succeeded' }]);
      } finally {
        await writeFile(join(folder.path, 'go'), '');
        await rm(join(folder.path, 'pid'));
        await until('the program ends', async () =>
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
  describe('who has the sample', () => {
    beforeAll(() => user.allow([]));

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
      [['date', '-s', '@0']],
      [['date', '+%s', '-s', '@0']],
      [['cat', '/proc/sys/kernel/osrelease', '/etc/shadow']],
      [['find', `${RECORDS}/`, '-maxdepth', '1', '-name', `${UID}.*`, '-delete']],
      [['find', '/sys/block/loop7/holders', '-mindepth', '1', '-delete']],
      [['udevadm', 'trigger']],
      [['udevadm', 'control', '--property=A=b']],
      [['stat', '/root']],
      [['readlink', '-m', '--', '/root/x']],
      [['sync', '/etc/shadow']],
      [['flock', '/dev/sda', 'sh']],
      [['flock', '-x', '-w', '60', '/dev/sda', 'sh']],
      [['flock', '-x', '-w', '60', '/dev/sda', 'cat', '/etc/shadow']],
      [['flock', '-x', '-w', '60', '/etc/shadow', 'cat']],
      [['mount', '/dev/sda', '/mnt']],
      [['mount', '-t', 'xfs', '-o', MOUNT, '--', '/dev/loop7', '/etc']],
      [['mount', '-t', 'xfs', '-o', MOUNT, '--', '/dev/loop7', `${MOUNTS}/../../../etc`]],
      [['mount', '-t', 'xfs', '-o', MOUNT, '--', '/dev/sda', `${MOUNTS}/${UID}`]],
      [['mount', '-t', 'xfs', '-o', 'suid,dev,exec', '--', '/dev/loop7', `${MOUNTS}/${UID}`]],
      [['mount', '-t', 'xfs', '-o', `${MOUNT},suid`, '--', '/dev/loop7', `${MOUNTS}/${UID}`]],
      [['mount', '-t', 'xfs', '-o', `${MOUNT} -o suid`, '--', '/dev/loop7', `${MOUNTS}/${UID}`]],
      [['mount', '-t', 'vfat', '-o', MOUNT, '--', '/dev/loop7', `${MOUNTS}/${UID}`]],
      [['umount', '--', '/var']],
      [['umount', '-l', '--', `${MOUNTS}/${UID}`]],
      [['rmdir', '--', '/run/stowage']],
      [['mkdir', '-p', '-m', '0777', '--', `${MOUNTS}/${UID}`]],
      [['mkdir', '-p', '-m', '0700', '--', '/run/stowage/jobs/x']],
      [['xfs_growfs', '/var']],
      [['xfs_growfs', '-L', '1', `${MOUNTS}/${UID}`]],
      [['resize2fs', '/dev/sda']],
      [['resize2fs', '/dev/loop7', '1M']],
      [['e2fsck', '-f', '-y', '/dev/loop7']],
      [['e2fsck', '-f', '-p', '/dev/sda']],
      [['losetup', '-c', '/dev/sda']],
      [['losetup', '--partscan', '/dev/loop7', '/etc/shadow']],
      [['losetup', '--offset', '4096', '/dev/loop7', file]],
      [['truncate', '-s', '-1', '--', file]],
      [['truncate', '-s', '4096', '-r', '/etc/shadow', '--', file]],
      [['fallocate', '--punch-hole', '--offset', '0', '--length', '9', '--', '/etc/shadow']],
      [['fallocate', '--collapse-range', '--offset', '0', '--length', '4096', '--', file]],
      [['dd', ...zeros('/etc/shadow')]],
      [['dd', ...zeros('/dev/../etc/shadow')]],
      [['dd', ...zeros('/dev/mem')]],
      [['dd', ...zeros('/dev/shm/x')]],
      [['dd', ...zeros('/dev/sda').with(0, 'if=/etc/shadow')]],
      [['dd', ...zeros('/dev/sda'), 'of=/etc/shadow']],
      [['dd', ...zeros(`${SPARSE}/../x`)]],
      [['dd', 'if=/dev/sda', 'of=/tmp/sda', 'bs=64K', 'count=1', 'status=none']],
      [['dd', 'if=/dev/sda', 'of=/dev/null', 'bs=64K', 'count=1', 'status=none', 'of=/etc/shadow']],
      [['cmp', '--bytes=9', '--', '/etc/shadow', '/dev/zero']],
      [['cmp', '--bytes=9', '--', '/dev/sda', '/etc/shadow']],
      [['cmp', '--print-bytes', '--bytes=9', '--', '/dev/sda', '/dev/zero']],
      [['sgdisk', '--zap-all', '/dev/sda']],
      [['sgdisk', '--zap-all', file]],
      [['sgdisk', '--clear', '/dev/sda']],
      [['sgdisk', '--backup=/etc/passwd', '/dev/sda']],
      [['sgdisk', ...GPT.toSpliced(1, 0, '--largest-new=1'), '--load-backup=/etc/passwd', '/dev/sda']],
      [['sgdisk', ...GPT.toSpliced(1, 0, '--largest-new=1'), '/etc/shadow']],
      [['sgdisk', ...GPT.toSpliced(1, 0, '--new=1:2048:4095'), file]],
      [['sgdisk', ...GPT.toSpliced(1, 0, '--new=1:0:4095'), `${file}.partial`]],
      [['sgdisk', ...GPT.toSpliced(-1, 1, '--change-name=1:a --zap'), '--largest-new=1', '/dev/sda']],
      [['sgdisk', `--partition-guid=1:${UID}`, `--typecode=1:${UID}`, '/dev/sda']],
      [['sgdisk', `--partition-guid=1:${UID}`, '/etc/shadow']],
      [['partx', '--add', '/dev/sda']],
      [['partx', '--delete', '/etc/shadow']],
      [['partx', '--update', '--nr', '1:9', '/dev/sda']],
      [['wipefs', '--all', '--force', '/etc/shadow']],
      [['wipefs', '--all', '--force', file]],
      [['wipefs', '--all', '--force', '/dev/sda', '/etc/shadow']],
      [['wipefs', '--all', '--force', '--backup=/etc', '/dev/sda']],
      [['wipefs', '--all', '--force', '/dev/disk/by-id/../../../etc/shadow']],
      [['wipefs', '-J', '-n', '/etc/shadow']],
      [['blkid', '-p', '-o', 'export', '/etc/shadow']],
      [['blkid', '-p', '-o', 'export', '-c', '/etc/shadow', '/dev/sda']],
      [['lsblk', '--raw', '-n', '--sysroot', '/root', '/dev/sda']],
      [['cat', '/sys/class/block/sda/../../../../etc/shadow']],
      [['cat', '/sys/class/block/sda/uevent']],
      [['find', `${RECORDS}/`, '-maxdepth', '1', '-name', '*.intent', '-exec', 'sh', '{}', '+']],
      [
        [
          ...['find', `${RECORDS}/`, '-maxdepth', '1', '-name', '*.intent'],
          '-exec',
          'cat',
          '/etc/shadow',
          '{}',
          '+',
        ],
      ],
      [['find', '-L', '/dev/disk/by-id', '-maxdepth', '1', '-samefile', '/dev/sda', '-delete']],
      [['find', '/sys/class/block/sda/holders/', '-mindepth', '1', '-exec', 'sh', ';']],
      [['stat', '-L', '-c', '%F|%t:%T', '--', '/dev/../root/x']],
      [['stat', '-L', '-c', '%F|%t:%T', '--', '/root/x']],
      [['udevadm', 'settle', '--timeout=10', '--exit-if-exists=/root/x']],
      [['udevadm', 'settle', '--timeout=10', '--exit-if-exists=/dev/../root/x']],
      [['udevadm', 'trigger', '--action=remove', '--name-match=/dev/sda']],
      [['sync', '/dev/sda', '/etc/shadow']],
      [['true', 'x']],
      [['mkfs.ext4', '-q', '-F', '-U', UID, '/etc/shadow']],
      [['mkfs.ext4', '-q', '-F', '-U', UID, `${MOUNTS}/${UID}`]],
      [['mkfs.ext4', '-q', '-F', '-U', UID, '/dev/disk/by-id/x']],
      [['mkfs.ext4', '-q', '-F', '-d', '/etc', '-U', UID, '/dev/sda']],
      [['mkfs.ext4', '-q', '-F', '-J', 'device=/dev/sdb', '-U', UID, '/dev/sda']],
      [['mkfs.xfs', '-q', '-f', '-m', `uuid=${UID}`, '/etc/shadow']],
      [['mkfs.xfs', '-q', '-f', '-m', `uuid=${UID}`, file]],
      [['mkfs.xfs', '-q', '-f', '-m', `uuid=${UID}`, `${MOUNTS}/${UID}`]],
      [['mkfs.xfs', '-q', '-f', '-p', '/etc/shadow', '-m', `uuid=${UID}`, '/dev/sda']],
      [['mkfs.xfs', '-q', '-f', '-c', 'options=/etc/shadow', '-m', `uuid=${UID}`, '/dev/sda']],
      [['mkfs.xfs', '-q', '-f', '-d', 'agcount=4,name=/dev/sdb', '-m', `uuid=${UID}`, '/dev/sda']],
      [['mkfs.xfs', '-q', '-f', '-d', 'file=1,name=/x', '-m', `uuid=${UID}`, `${file}.partial`]],
      [['mkfs.xfs', '-q', '-f', '-l', 'logdev=/dev/sdb', '-m', `uuid=${UID}`, '/dev/sda']],
      [['mkfs.xfs', '-q', '-f', '-r', 'rtdev=/dev/sdb', '-m', `uuid=${UID}`, '/dev/sda']],
      [['mkfs.xfs', '-q', '-f', '-L', 'x /dev/sdb', '-m', `uuid=${UID}`, '/dev/sda']],
      [['blkid', '-p', '-O', '0', '-S', '9', '-o', 'export', '/etc/shadow']],
      [['blockdev', '--setro', '/dev/sda']],
      [['blkdiscard', '--offset', '0', '--length', '9', '/dev/sda']],
      [['mkfs.ext4', '-q', '-F', '-U', UID, '/dev/vg0/../sda']],
      [['mkfs.ext4', '-q', '-F', '-U', UID, '/dev/vg1/data1']],
      [['dd', ...zeros('/dev/vg0/data1')]],
    ])('may not run %j', async (argv) => {
      expect(await user.may(argv)).toBe(false);
    });

    test.each([
      [['cat', `${RECORDS}/${UID}.done`]],
      [['rm', '-f', '--', file]],
      [['mkfs.ext4', '-q', '-F', '-E', 'stride=4,nodiscard', '-U', UID, `${file}.partial`]],
      [['truncate', '-s', '4096', '--', file]],
      [['mount', '-t', 'xfs', '-o', MOUNT, '--', '/dev/loop7', `${MOUNTS}/${UID}`]],
      [['dd', ...zeros('/dev/dm-3')]],
      [['sgdisk', ...GPT.toSpliced(1, 0, '--largest-new=1'), '/dev/nvme0n1']],
      [['sgdisk', `--partition-guid=12:${UID}`, '/dev/mmcblk0']],
      [['sgdisk', '--partition-guid=12:R', '/dev/mmcblk0']],
      [['wipefs', '--all', '--force', '/dev/nvme0n1p1', '/dev/nvme0n1p2', '/dev/nvme0n1']],
      [['stat', '-L', '-c', '%F|%t:%T', '--', '/dev/disk/by-path/pci-0000:00:1f.2-ata-1']],
      [['stat', '-L', '-c', '%F|%t:%T', '--', '/dev/mapper/vg-lv+x']],
      [['cat', '/sys/class/block/dm-3/dm/uuid']],
      [['find', '-L', '/dev/disk/by-id', '-maxdepth', '1', '-samefile', '/dev/dm-3']],
      [['udevadm', 'settle', '--timeout=10', '--exit-if-exists=/dev/disk/by-id/dm-uuid-LVM-aB3']],
      [['udevadm', 'settle', '--timeout=10', '--exit-if-exists=/dev/disk/by-path/pci-0000:00:1f.2-ata-1']],
      [['cmp', '--bytes=1048576', '--', '/dev/sda', '/dev/zero']],
      [['mkfs.ext4', '-q', '-F', '-U', UID, '/dev/vg0/data1']],
      [['flock', '-x', '-w', '60', '/dev/vg0/data1', 'cat']],
    ])('but may run %j', async (argv) => {
      expect(await user.may(argv)).toBe(true);
    });

    describe.each([
      ['ext4', EXT4_OPTIONS, EXT4_VALUES],
      ['xfs', XFS_OPTIONS, XFS_VALUES],
    ] as const)('mkfs.%s', (type, allowed, values) => {
      test.each([...allowed.keys()])(
        'with every value of %s that a storage class may give',
        async (option) => {
          const value = values[option];
          const options = value === undefined ? [option] : [option, value];
          expect(checkMkfsOptions(type, options)).toEqual({ options });
          for (const path of [`${file}.partial`, '/dev/sda', '/dev/vg0/data1', '/dev/dm-3']) {
            expect(await user.may(mkfs({ type, options: [...options, ...options] }, UID, path))).toBe(true);
          }
        },
      );
    });
  });

  test.each([
    [['wipefs', '--all', '--force', '/dev/sda']],
    [['mkfs.ext4', '-q', '-F', '-U', UID, '/dev/sda']],
    [['mkfs.xfs', '-q', '-f', '-m', `uuid=${UID}`, '/dev/sda']],
    [['sgdisk', ...GPT.toSpliced(1, 0, '--largest-new=1'), '/dev/sda']],
    [['sgdisk', `--partition-guid=1:${UID}`, '/dev/sda']],
    [['dd', ...zeros('/dev/sda')]],
    [['partx', '--delete', '/dev/sda']],
    [['flock', '-x', '-w', '60', '/dev/sda', 'cat']],
  ])('may run %j only with the groups for raw devices', async (argv) => {
    await user.allow([]);
    expect(await user.may(argv)).toBe(true);
    await user.allow([], 'sparse files alone');
    expect(await user.may(argv)).toBe(false);
  });

  describe('over ssh, with no more than the sample allows', () => {
    let kinds: Kinds;
    let executor: Executor;
    beforeAll(async () => {
      kinds = await setUpKinds({}, SPARSE);
    });
    beforeEach(() => {
      executor = createShellExecutor(
        createSshShell({ configFile: user.sshd.configFile, addressOf: () => ({}) }),
      );
    });
    afterEach(async () => {
      await executor.close();
      await kinds.clean();
    });
    afterAll(() => kinds?.stop());

    async function carry(operation: Operation, desired: Desired): Promise<VolumeDevice> {
      const seen = await carryOut(executor, 'n1', operation, desired);
      if (typeof seen === 'string') throw new Error(seen);
      return deviceOf(desired, seen);
    }

    const lives = (['Delete', 'Wipe'] as const).flatMap((onDelete) => [
      ...CONTENTS.map((content) => ['sparse file', content, onDelete] as const),
      ...(['disk', 'partition'] as const).flatMap((backing) =>
        (['ext4', 'Block'] as const).map((content) => [backing, content, onDelete] as const),
      ),
    ]);
    const some = lives.filter(
      ([backing, content, onDelete]) => (backing === 'disk') !== (onDelete === 'Wipe') && content === 'Block',
    );
    test.each(EVERY_CASE ? lives : some)(
      'the life of a %s with %s, and %s',
      async (backing, content, onDelete) => {
        await user.allow([], backing === 'sparse file' ? 'sparse files alone' : 'all');
        const desired = await kinds.desired(backing, content, { onDelete });
        const { link, identity } = await carry('prepare', desired);
        await kinds.write(desired, link, 'kept');
        let recorded = recordedAs(desired, identity);
        await carry('absent', recorded);
        await carry('present', recorded);
        if (recorded.type === 'sparse') {
          recorded = { ...recorded, sizeBytes: recorded.sizeBytes + (16n << 20n) };
          expect((await carry('present', recorded)).device?.sizeBytes).toBe(recorded.sizeBytes);
        }
        expect(await kinds.read(desired, link)).toBe('kept');
        await carry('destroy', recorded);
        expect(await planNow(executor, 'n1', 'destroy', recorded)).toEqual({ steps: [] });
        await expect(lstat(link)).rejects.toThrow('ENOENT');
        const left = await leftovers({ uids: [desired.uid] });
        expect(left.filter((fault) => fault.includes(desired.uid))).toEqual([]);
      },
    );

    test('a disk with partitions is overwritten with consent', async () => {
      await user.allow([]);
      const { path } = await kinds.disk(undefined, 'gpt');
      const desired = kinds.onDevice(path, 'Block');
      const seen = await observe(executor, 'n1', desired);
      const content = seen.type === 'raw' && seen.target.is === 'device' ? seen.target.facts.content : '';
      expect(content).toMatch(/^gpt:.*;1=none;2=none$/);
      const { identity } = await carry('prepare', { ...desired, overwrite: content });
      await carry('destroy', recordedAs(desired, identity));
    });
  });
});

async function parentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]);
}
