import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Executor } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../src/nodes/transport/ssh-shell.ts';
import type { Desired } from '../../src/storage/registry.ts';
import type { DesiredRaw, DesiredSparse } from '../../src/storage/types.ts';
import { type Disk, makeDisk, type Table } from './disks.ts';
import { removeTraces } from './remove-traces.ts';
import { startSshd } from './sshd.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { ensureUdev } from './udev.ts';

export type Backing = 'sparse file' | 'disk' | 'partition';
export type Content = 'ext4' | 'xfs' | 'Block';
export const BACKINGS: readonly Backing[] = ['sparse file', 'disk', 'partition'];
export const CONTENTS: readonly Content[] = ['ext4', 'xfs', 'Block'];
export const TRANSPORTS = ['local', 'ssh'] as const;

const MIB = 1n << 20n;
/** XFS needs 300 MiB. */
export const SIZE = 304n * MIB;

/** This machine as a node, with loop devices as disks, and volumes of every kind. */
export interface Kinds {
  folder: string;
  executors: Record<(typeof TRANSPORTS)[number], Executor>;
  disk(sizeBytes?: bigint, table?: Table, number?: number): Promise<Disk>;
  /** Returns a volume with new storage of its own, to be provisioned. */
  desired(
    backing: Backing,
    content: Content,
    more?: Pick<Partial<Desired>, 'onDelete'>,
  ): Promise<DesiredSparse | DesiredRaw>;
  /** Returns a volume on an existing device. */
  onDevice(devicePath: string, content: Content, more?: Partial<DesiredRaw>): DesiredRaw;
  /** Writes data to a volume like a pod. */
  write(desired: Pick<Desired, 'mode'>, path: string, data: string): Promise<void>;
  read(desired: Pick<Desired, 'mode'>, path: string): Promise<string>;
  /** Removes all volumes and disks, after each test. */
  clean(): Promise<void>;
  stop(): Promise<void>;
}

/** @param directory directory of the sparse files. Default: a new one */
export async function setUpKinds(
  env: Readonly<Record<string, string>> = {},
  directory?: string,
): Promise<Kinds> {
  const stopUdev = await ensureUdev();
  const folder = await temporaryDirectory('kinds');
  const mountPoint = join(folder.path, 'mnt');
  await mkdir(mountPoint);
  const sshd = await startSshd({ nodes: ['n1'], env });
  const executors = {
    local: createShellExecutor(createLocalShell(['n1'])),
    ssh: createShellExecutor(
      createSshShell({ configFile: sshd.configFile, addressOf: () => ({}) }),
    ),
  };
  const disks: Disk[] = [];
  const made: Desired[] = [];

  const contentOf = (content: Content) =>
    content === 'Block'
      ? ({ mode: 'Block', fs: undefined } as const)
      : ({ mode: 'Filesystem', fs: { type: content, options: [] } } as const);

  const common = (content: Content) => {
    const uid = randomUUID();
    return {
      uid,
      name: `vol-${uid}`,
      recorded: false,
      onDelete: 'Delete' as const,
      kubeletRoot: '/var/lib/kubelet',
      ...contentOf(content),
    };
  };

  async function disk(sizeBytes = SIZE, table: Table = 'none', number?: number): Promise<Disk> {
    const each = await makeDisk(folder.path, randomUUID(), sizeBytes, table, number);
    disks.push(each);
    return each;
  }

  function onDevice(
    devicePath: string,
    content: Content,
    more: Partial<DesiredRaw> = {},
  ): DesiredRaw {
    const desired: DesiredRaw = {
      ...common(content),
      type: 'raw',
      devicePath,
      overwrite: undefined,
      identity: undefined,
      ...more,
    };
    made.push(desired);
    return desired;
  }

  return {
    folder: folder.path,
    executors,
    disk,
    onDevice,
    async desired(backing, content, more = {}) {
      if (backing !== 'sparse file') {
        const { path, partition } =
          backing === 'disk' ? await disk() : await disk(2n * SIZE + 2n * MIB, 'gpt');
        return onDevice(backing === 'disk' ? path : partition, content, more);
      }
      const base = common(content);
      const desired: DesiredSparse = {
        ...base,
        type: 'sparse',
        file: join(directory ?? folder.path, base.uid),
        onDemand: false,
        readOnly: false,
        shared: false,
        sizeBytes: SIZE,
        ...more,
      };
      made.push(desired);
      return desired;
    },
    async write({ mode }, path, data) {
      if (mode === 'Block') {
        const to = [
          `of=${path}`,
          'bs=4096',
          'seek=100',
          'conv=notrunc,nocreat,fsync',
          'status=none',
        ];
        await execa('dd', to, { input: data });
        return;
      }
      await execa('mount', [path, mountPoint]);
      await writeFile(join(mountPoint, 'data'), data);
      await execa('umount', [mountPoint]);
    },
    async read({ mode }, path) {
      if (mode === 'Block') {
        const from = [`if=${path}`, 'bs=4096', 'skip=100', 'count=1', 'status=none'];
        return (await execa('dd', from)).stdout.replaceAll('\0', '');
      }
      await execa('mount', [path, mountPoint]);
      const data = await readFile(join(mountPoint, 'data'), 'utf8');
      await execa('umount', [mountPoint]);
      return data;
    },
    async clean() {
      await execa('umount', ['-q', mountPoint], { reject: false });
      for (const desired of made.splice(0)) {
        await removeTraces(desired.uid, desired.type === 'sparse' ? desired.file : undefined);
      }
      for (const each of disks.splice(0)) await each.remove();
    },
    async stop() {
      await executors.ssh.close();
      await sshd.stop();
      await folder.remove();
      await stopUdev();
    },
  };
}

/** Returns the volume as recorded in a Volume's status. */
export function recordedAs<T extends Desired>(desired: T, identity: string): T {
  return desired.type === 'raw'
    ? { ...desired, recorded: true, identity }
    : { ...desired, recorded: true };
}
