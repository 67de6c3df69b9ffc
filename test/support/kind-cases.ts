import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Executor } from '../../src/nodes/job.ts';
import { deviceOf, type VolumeDevice } from '../../src/storage/device.ts';
import type { Desired } from '../../src/storage/registry.ts';
import type { VolumeOperation } from '../../src/storage/types.ts';
import { carryOut } from './carry-out.ts';
import {
  BACKINGS,
  type Backing,
  CONTENTS,
  type Content,
  type Kinds,
  recordedAs,
  SIZE,
} from './kinds.ts';
import { until } from './until.ts';

/** All combinations of backing and content. */
export const KINDS = BACKINGS.flatMap((backing) =>
  CONTENTS.map((content) => [backing, content] as const),
);

/**
 * Returns each backing and each content once.
 * @param shift 0 to 2; tables with different shifts share no row
 */
export const someKinds = (shift: number) =>
  BACKINGS.map(
    (backing, index) => [backing, CONTENTS[(index + shift) % CONTENTS.length] as Content] as const,
  );

/**
 * Waits until udev is idle. When losetup and partx close a disk, udev may trigger a reread of its
 * partition table, and the links of partitions vanish for a moment. Concurrent `udevadm settle`
 * calls that udev does not accept exit at once with status 0; a ping detects that.
 */
export async function udevRests(): Promise<void> {
  const ping = ['control', '--ping', '--timeout=10'];
  await until('udev takes a request', async () => {
    const { exitCode } = await execa('udevadm', ping, { reject: false });
    return exitCode === 0 ? true : undefined;
  });
  await execa('udevadm', ['settle']);
}

/**
 * Carries out an operation to its end.
 * @throws Error for a refusal
 */
export async function carry(
  executor: Executor,
  operation: VolumeOperation,
  desired: Desired,
): Promise<VolumeDevice> {
  const seen = await carryOut(executor, 'n1', operation, desired);
  if (typeof seen === 'string') throw new Error(seen);
  if (operation === 'provision' || operation === 'attach') await udevRests();
  return deviceOf(desired, seen);
}

export const bytesOf = async (path: string): Promise<bigint> =>
  BigInt((await execa('blockdev', ['--getsize64', path])).stdout);

export const exists = async (path: string): Promise<boolean> =>
  (await execa('test', ['-e', path], { reject: false })).exitCode === 0;

/**
 * Declares tests for the life of every kind of volume over a transport. Tests call `kindsOf` and
 * `executorOf`.
 */
export function kindCases(
  name: string,
  kindsOf: () => Kinds,
  executorOf: () => Executor,
  rows: readonly (readonly [Backing, Content])[] = KINDS,
): void {
  test.each(rows)(
    `%s with %s over ${name} is provisioned, keeps its data across re-attachment, and is deleted`,
    async (backing, content) => {
      const kinds = kindsOf();
      const executor = executorOf();
      const desired = await kinds.desired(backing, content);
      const { device, link, identity } = await carry(executor, 'provision', desired);
      expect(link).toBe(`/dev/disk/by-id/stowage-${desired.uid}`);
      expect((await execa('realpath', [link])).stdout).toBe(`/dev/${device?.name}`);
      expect(await bytesOf(link)).toBe(device?.sizeBytes);
      if (backing === 'sparse file') expect(device?.sizeBytes).toBe(SIZE);
      await kinds.write(desired, link, 'kept');
      const recorded = recordedAs(desired, identity);
      await carry(executor, 'detach', recorded);
      await carry(executor, 'attach', recorded);
      expect(await kinds.read(desired, link)).toBe('kept');
      await carry(executor, 'delete', recorded);
      expect(await exists(link)).toBe(false);
      expect(await exists(`/var/lib/stowage/volumes/${desired.uid}.intent`)).toBe(false);
    },
  );
}
