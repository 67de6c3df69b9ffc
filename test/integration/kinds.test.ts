import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Executor } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/shell-executor.ts';
import { createSshShell } from '../../src/nodes/ssh-shell.ts';
import { deviceOf } from '../../src/storage/device.ts';
import type { Desired, Operation } from '../../src/storage/types.ts';
import { carryOut } from '../support/carry-out.ts';
import { type Disk, makeDisk } from '../support/disks.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensureUdev } from '../support/udev.ts';

const MIB = 1n << 20n;
/** XFS needs 300 MiB. */
const SIZE = 304n * MIB;

type Backing = 'sparse file' | 'disk' | 'partition';
type Content = 'ext4' | 'xfs' | 'Block';
const BACKINGS: Backing[] = ['sparse file', 'disk', 'partition'];
const CONTENTS: Content[] = ['ext4', 'xfs', 'Block'];
const TRANSPORTS = ['local', 'ssh'] as const;

describeAsRoot('every kind of volume, with real devices, mkfs, sgdisk and udev', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let stopUdev: () => Promise<void>;
  let sshd: Sshd;
  let mountPoint: string;
  let executors: Record<(typeof TRANSPORTS)[number], Executor>;
  const disks: Disk[] = [];
  const made: Desired[] = [];

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    folder = await temporaryFolder('kinds');
    mountPoint = join(folder.path, 'mnt');
    await mkdir(mountPoint);
    sshd = await startSshd({ nodes: ['n1'] });
    executors = {
      local: createShellExecutor(createLocalShell(['n1'])),
      ssh: createShellExecutor(createSshShell({ configFile: sshd.configFile, addressOf: () => ({}) })),
    };
  });
  afterEach(async () => {
    for (const desired of made.splice(0)) {
      await removeTraces(desired.uid, desired.type === 'sparse' ? desired.file : undefined);
    }
    for (const disk of disks.splice(0)) await disk.remove();
  });
  afterAll(async () => {
    await executors?.ssh.close();
    await sshd?.stop();
    await folder?.remove();
    await stopUdev?.();
  });

  async function desiredOf(backing: Backing, content: Content): Promise<Desired> {
    const uid = randomUUID();
    const common = {
      uid,
      name: `vol-${uid}`,
      recorded: false,
      onDelete: 'Delete',
      ...(content === 'Block'
        ? { mode: 'Block', fs: undefined }
        : { mode: 'Filesystem', fs: { type: content, options: [] } }),
    } as const;
    const desired = await place(backing, common);
    made.push(desired);
    return desired;
  }

  async function place(backing: Backing, common: Omit<Desired, 'type'> & { uid: string }): Promise<Desired> {
    if (backing === 'sparse file') {
      return { ...common, type: 'sparse', file: join(folder.path, common.uid), sizeBytes: SIZE } as Desired;
    }
    const size = backing === 'disk' ? SIZE : 2n * SIZE + 2n * MIB;
    const disk = await makeDisk(folder.path, common.uid, size, backing === 'disk' ? 'none' : 'gpt');
    disks.push(disk);
    return {
      ...common,
      type: 'raw',
      devicePath: backing === 'disk' ? disk.path : disk.partition,
      overwrite: undefined,
      identity: undefined,
    } as Desired;
  }

  /** What a pod would keep there, and how it is read again. */
  async function write(desired: Desired, path: string, data: string): Promise<void> {
    if (desired.mode === 'Block') {
      await execa('dd', [`of=${path}`, 'bs=4096', 'seek=100', 'conv=notrunc,fsync', 'status=none'], {
        input: data,
      });
      return;
    }
    await execa('mount', [path, mountPoint]);
    await writeFile(join(mountPoint, 'data'), data);
    await execa('umount', [mountPoint]);
  }
  async function read(desired: Desired, path: string): Promise<string> {
    if (desired.mode === 'Block') {
      const { stdout } = await execa('dd', [`if=${path}`, 'bs=4096', 'skip=100', 'count=1', 'status=none']);
      return stdout.replaceAll('\0', '');
    }
    await execa('mount', [path, mountPoint]);
    const data = await readFile(join(mountPoint, 'data'), 'utf8');
    await execa('umount', [mountPoint]);
    return data;
  }

  const cases = TRANSPORTS.flatMap((transport) =>
    BACKINGS.flatMap((backing) => CONTENTS.map((content) => [backing, content, transport] as const)),
  );
  test.each(cases)(
    '%s with %s over %s: made, kept across re-attachment, gone',
    async (backing, content, transport) => {
      const desired = await desiredOf(backing, content);
      const carry = async (operation: Operation, wanted: Desired = desired) => {
        const seen = await carryOut(executors[transport], 'n1', operation, wanted);
        if (typeof seen === 'string') throw new Error(seen);
        return deviceOf(wanted, seen);
      };
      const { device, link, identity } = await carry('prepare');
      expect(link).toBe(`/dev/disk/by-${content === 'Block' ? 'partuuid' : 'uuid'}/${desired.uid}`);
      expect((await execa('realpath', [link])).stdout).toBe(`/dev/${device?.name}`);
      expect(BigInt((await execa('blockdev', ['--getsize64', link])).stdout)).toBe(device?.sizeBytes);
      if (backing === 'sparse file') expect(device?.sizeBytes).toBe(SIZE);
      await write(desired, link, 'kept');
      await carry('absent');
      const recorded = {
        ...desired,
        recorded: true,
        ...(desired.type === 'raw' ? { identity } : {}),
      } as Desired;
      await carry('present', recorded);
      expect(await read(desired, link)).toBe('kept');
      await carry('destroy', recorded);
      await expect(execa('realpath', ['-e', link])).rejects.toThrow();
    },
  );
});
