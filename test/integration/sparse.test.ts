import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, open, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { checkGuards } from '../../src/nodes/check-guards.ts';
import { createLocalShell } from '../../src/nodes/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/shell-executor.ts';
import type { DesiredSparse, Observed, Operation } from '../../src/storage/types.ts';
import { unusedGuards } from '../../src/storage/unused.ts';
import { carryOut, observe } from '../support/carry-out.ts';
import { leftovers } from '../support/leftovers.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { sha256 } from '../support/signatures.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const MIB = 1n << 20n;

describeAsRoot('a sparse file with a real loop device, mkfs and udev', () => {
  const executor = createShellExecutor(createLocalShell(['n1']));
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let stopUdev: () => Promise<void>;
  let desired: DesiredSparse;
  let mountPoint: string;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    folder = await temporaryFolder('sparse');
    mountPoint = join(folder.path, 'mnt');
    await mkdir(mountPoint);
  });
  afterAll(async () => {
    await folder?.remove();
    await stopUdev?.();
  });
  beforeEach(async () => {
    const uid = randomUUID();
    const files = join(folder.path, uid);
    await mkdir(files);
    desired = {
      type: 'sparse',
      uid,
      name: 'data1',
      mode: 'Filesystem',
      file: join(files, uid),
      sizeBytes: 16n * MIB,
      fs: { type: 'ext4', options: [] },
      recorded: false,
      onDelete: 'Delete',
      onDemand: false,
      readOnly: false,
      shared: false,
      kubeletRoot: join(folder.path, 'kubelet'),
    };
  });
  afterEach(() => removeTraces(desired.uid, desired.file));

  const carry = (operation: Operation, wanted = desired) => carryOut(executor, 'n1', operation, wanted);

  async function prepared(): Promise<string> {
    return deviceOf(await carry('prepare'));
  }

  function deviceOf(seen: Observed | string): string {
    if (typeof seen === 'string') throw new Error(seen);
    expect(seen.loops.filter(({ backingFile }) => backingFile.includes(desired.uid))).toHaveLength(1);
    return `/dev/loop${seen.link?.split(':')[1]}`;
  }

  /** What the checker says of this volume: it should be there with its device, or nothing of it should. */
  async function faults(there: boolean): Promise<string[]> {
    const { uid, file } = desired;
    const found = await leftovers({
      expected: there ? [{ uid, file, loop: true }] : [],
      uids: [uid],
      directories: [join(folder.path, uid)],
    });
    return found.filter((fault) => fault.includes(uid) && !fault.startsWith('jobs '));
  }

  async function expectDestroyed(): Promise<void> {
    await expect(carry('destroy')).resolves.toMatchObject({ file: { type: 'missing' }, recordFiles: false });
    expect(await faults(false)).toEqual([]);
  }

  test('is made with its UUID, link and size, keeps its data when detached, and goes without a trace', async () => {
    const device = await prepared();
    expect(await faults(true)).toEqual([]);
    const probe = await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', '-s', 'TYPE', device]);
    expect(probe.stdout.split('\n').sort()).toEqual([desired.uid, 'ext4'].sort());
    expect((await execa('realpath', [`/dev/disk/by-uuid/${desired.uid}`])).stdout).toBe(device);
    expect((await execa('blockdev', ['--getsize64', device])).stdout).toBe(String(desired.sizeBytes));

    await execa('mount', [device, mountPoint]);
    await writeFile(join(mountPoint, 'data'), 'kept');
    await execa('umount', [mountPoint]);
    expect(await carry('absent')).toMatchObject({
      link: undefined,
      file: { type: 'file' },
      done: { sizeBytes: desired.sizeBytes },
    });
    const again = deviceOf(await carry('present', { ...desired, recorded: true }));
    await execa('mount', [again, mountPoint]);
    expect(await readFile(join(mountPoint, 'data'), 'utf8')).toBe('kept');
    await execa('umount', [mountPoint]);
    await expectDestroyed();
  });

  test('is found under a folder that is a symbolic link', async () => {
    const linked = `${folder.path}/${desired.uid}-linked`;
    await symlink(join(folder.path, desired.uid), linked);
    const through = { ...desired, file: join(linked, desired.uid) };
    deviceOf(await carry('prepare', through));
    expect(await carry('absent', through)).toMatchObject({ link: undefined });
    expect(await carry('destroy', through)).toMatchObject({ file: { type: 'missing' } });
    expect(await faults(false)).toEqual([]);
  });

  describe('is neither detached nor destroyed while', () => {
    type Use = (device: string) => Promise<() => Promise<unknown>>;
    const uses: [string, RegExp, Use][] = [
      [
        'mounted here',
        /mounted at .*\/mnt$/,
        async (device) => {
          await execa('mount', [device, mountPoint]);
          return () => execa('umount', [mountPoint]);
        },
      ],
      [
        'mounted in another mount namespace',
        /is in use: it is mounted$/,
        async (device) => {
          const script = 'mount "$1" "$2" && echo mounted && read end';
          const holder = spawn('unshare', [
            '-m',
            '--propagation',
            'private',
            'sh',
            '-c',
            script,
            'sh',
            device,
            mountPoint,
          ]);
          await once(holder.stdout, 'data');
          return async () => {
            holder.stdin.end();
            await once(holder, 'close');
          };
        },
      ],
      [
        'open in a process',
        /is in use: a process has it open$/,
        async (device) => {
          const handle = await open(device, 'r');
          return () => handle.close();
        },
      ],
      [
        'open in a process by another name',
        /is in use: a process has it open$/,
        async (device) => {
          const other = join(folder.path, `${desired.uid}-node`);
          const numbers = (await execa('stat', ['-c', '%Hr %Lr', device])).stdout.split(' ');
          await execa('mknod', [other, 'b', ...numbers]);
          const handle = await open(other, 'r');
          return () => handle.close();
        },
      ],
      [
        'a loop is stacked on it',
        /loop\d+ is stacked on it$/,
        async (device) => {
          const { stdout } = await execa('losetup', ['-f', '--show', device]);
          return () => execa('losetup', ['-d', stdout]);
        },
      ],
      [
        'the kubelet has a folder of a pod for it',
        /the kubelet has .*\/data1 for the pod with the UID pod-1$/,
        async () => {
          const pod = join(desired.kubeletRoot, 'pods/pod-1');
          await mkdir(join(pod, 'volumes/kubernetes.io~local-volume/data1/lost+found'), { recursive: true });
          return () => rm(pod, { recursive: true });
        },
      ],
    ];

    test.each(uses)('%s', async (_, refusal, use) => {
      const end = await use(await prepared());
      try {
        expect(await carry('absent')).toMatch(refusal);
        expect(await carry('destroy')).toMatch(refusal);
        // Also before any job, by the guards alone.
        const seen = await observe(executor, 'n1', desired);
        expect(await checkGuards(executor, 'n1', unusedGuards(desired, seen))).toEqual(expect.any(String));
        // Not even marked to go when it is closed.
        expect(await faults(true)).toEqual([]);
      } finally {
        await end();
      }
      const seen = await observe(executor, 'n1', desired);
      expect(await checkGuards(executor, 'n1', unusedGuards(desired, seen))).toBeUndefined();
      await expectDestroyed();
    });
  });

  test.each([
    [
      'the kubelet has bound, stacking a loop on that,',
      'kubelet/plugins/kubernetes.io~local-volume/volumeDevices/data1',
      /the kubelet has .*\/volumeDevices\/data1\/pod-1 for the pod with the UID pod-1$/,
    ],
    ['somebody has bound, stacking a loop on that,', 'elsewhere', /another loop device is stacked on it$/],
  ])('whose device %s is not detached', async (_, place, refusal) => {
    const device = await prepared();
    const devices = join(folder.path, place);
    await mkdir(devices, { recursive: true });
    const bound = join(devices, 'pod-1');
    await writeFile(bound, '');
    await execa('mount', ['--bind', device, bound]);
    const { stdout: stacked } = await execa('losetup', ['-f', '--show', bound]);
    try {
      // The kernel does not name the device that it is stacked on.
      expect((await execa('losetup', ['-n', '-O', 'BACK-FILE', stacked])).stdout).toBe(bound);
      expect(await carry('absent')).toMatch(refusal);
      const seen = await observe(executor, 'n1', desired);
      expect(await checkGuards(executor, 'n1', unusedGuards(desired, seen))).toMatch(/is stacked on it$/);
    } finally {
      await execa('losetup', ['-d', stacked]);
      await execa('umount', [bound]);
      await rm(bound);
    }
    await expectDestroyed();
  });

  test('that is attached on demand is made without a device, and is on disk once it is detached', async () => {
    desired = { ...desired, onDemand: true };
    expect(await carry('prepare')).toMatchObject({ link: undefined, done: { sizeBytes: desired.sizeBytes } });
    const device = deviceOf(await carry('present'));
    await execa('mount', [device, mountPoint]);
    await writeFile(join(mountPoint, 'data'), 'kept');
    await execa('umount', [mountPoint]);
    expect(await carry('absent')).toMatchObject({ link: undefined });
    const again = deviceOf(await carry('present'));
    await execa('mount', [again, mountPoint]);
    expect(await readFile(join(mountPoint, 'data'), 'utf8')).toBe('kept');
    await execa('umount', [mountPoint]);
    await expectDestroyed();
  });

  test.each(['ext4', 'xfs'] as const)(
    'with a journal of %s that was not written back is only read where it is attached read-only',
    async (type) => {
      desired = { ...desired, onDemand: true, fs: { type, options: [] }, sizeBytes: 320n * MIB };
      await carry('prepare');
      const device = deviceOf(await carry('present'));
      await execa('mount', [device, mountPoint]);
      await writeFile(join(mountPoint, 'data'), 'kept');
      await execa('sync', ['-f', mountPoint]);
      // As it is after a power cut: what is on disk now, with its journal.
      const cut = `${desired.file}.cut`;
      await copyFile(desired.file, cut);
      await execa('umount', [mountPoint]);
      await carry('absent');
      await rename(cut, desired.file);
      const before = await sha256(desired.file);

      const readOnly = { ...desired, readOnly: true, recorded: true };
      const seen = await carry('present', { ...readOnly, sizeBytes: 640n * MIB });
      const mounted = deviceOf(seen);
      expect(seen).toMatchObject({
        loops: expect.arrayContaining([expect.objectContaining({ readOnly: true })]),
      });
      expect((await execa('blockdev', ['--getro', mounted])).stdout).toBe('1');
      const without = type === 'xfs' ? 'ro,norecovery' : 'ro,noload';
      await execa('mount', ['-o', without, mounted, mountPoint]);
      // What is in the journal alone is not seen.
      expect((await execa('findmnt', ['-n', '-o', 'FSTYPE', mountPoint])).stdout).toBe(type);
      await execa('umount', [mountPoint]);
      expect(await carry('present', { ...readOnly, readOnly: false })).toMatch(
        /by someone else: read-only, or the file could not be opened to write$/,
      );
      expect(await carry('absent', readOnly)).toMatchObject({ link: undefined });
      expect(await sha256(desired.file)).toBe(before);
      await expectDestroyed();
    },
  );

  test.each([
    ['a file of someone else', async () => writeFile(desired.file, 'not yours')],
    [
      'a file system of someone else',
      async () => {
        await execa('truncate', ['-s', '16M', desired.file]);
        await execa('mkfs.ext4', ['-q', '-F', desired.file]);
      },
    ],
    ['a partial of someone else', async () => writeFile(`${desired.file}.partial`, 'not yours')],
  ] as const)('%s under its name is refused and left alone', async (_, make) => {
    await make();
    const sums = async () => {
      const sum = async (path: string) =>
        createHash('sha256')
          .update(await readFile(path).catch(() => ''))
          .digest('hex');
      return Promise.all([sum(desired.file), sum(`${desired.file}.partial`)]);
    };
    const before = await sums();
    expect(await carry('prepare')).toMatch(
      /is there already, and nothing on the node says that Stowage made it$/,
    );
    await carry('destroy');
    expect(await sums()).toEqual(before);
  });

  test('whose file was replaced is refused; the device keeps the earlier one', async () => {
    const device = await prepared();
    await copyFile(desired.file, `${desired.file}.copy`);
    await rename(`${desired.file}.copy`, desired.file);
    for (const operation of ['present', 'prepare'] as const) {
      expect(await carry(operation)).toContain(`${device} has an earlier file of the name`);
    }
    expect((await execa('losetup', ['-n', '-O', 'BACK-FILE', device])).stdout).toContain('(deleted)');
  });

  test('whose file was removed is never made anew', async () => {
    await prepared();
    await carry('absent');
    await rename(desired.file, `${desired.file}.away`);
    expect(await carry('prepare')).toContain('was made before and is missing now');
    expect(await carry('present')).toContain('is missing');
    await rename(`${desired.file}.away`, desired.file);
    deviceOf(await carry('prepare'));
    await expectDestroyed();
  });

  test('whose device was detached while in use is uncertain until that ends', async () => {
    const device = await prepared();
    await execa('mount', [device, mountPoint]);
    await execa('losetup', ['-d', device]);
    expect(await carry('present')).toContain('was detached while in use');
    expect(await carry('absent')).toContain('is in use');
    await execa('umount', [mountPoint]);
    await until('the kernel lets go of the file', async () => {
      const { stdout } = await execa('losetup', ['-j', desired.file]);
      return stdout === '' ? true : undefined;
    });
    deviceOf(await carry('present'));
    await expectDestroyed();
  });
});
