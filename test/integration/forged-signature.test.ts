import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { deviceOf } from '../../src/storage/device.ts';
import { contentLink } from '../../src/storage/links.ts';
import type { Desired, Observed } from '../../src/storage/registry.ts';
import type { VolumeOperation } from '../../src/storage/types.ts';
import { rulePath } from '../../src/storage/udev.ts';
import { carryOut } from '../support/carry-out.ts';
import {
  BACKINGS,
  CONTENTS,
  type Content,
  type Kinds,
  recordedAs,
  setUpKinds,
} from '../support/kinds.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { describeAsRoot } from '../support/root.ts';
import { until } from '../support/until.ts';

const LUKS = 'SKUL\\272\\276\\000\\002';
const BTRFS = '_BHRfS_M';

const write = (device: string, bytes: string, at: number) =>
  execa('sh', [
    ...[
      '-c',
      'printf "$1" | dd of="$2" bs=1 seek="$3" conv=notrunc,nocreat,fsync status=none',
      'sh',
    ],
    ...[bytes, device, String(at)],
  ]);

/**
 * Writes bytes as a pod can, after which blkid detects another type, or several types and reports
 * none.
 */
async function forge(device: string, content: Content): Promise<void> {
  // A second LUKS header at 4 MiB of the disk. In mode Block, the partition begins at 1 MiB.
  await write(device, LUKS, (content === 'Block' ? 3 : 4) << 20);
  if (content !== 'Block') return;
  await execa('mkfs.ext4', ['-q', '-F', device]);
  await write(device, BTRFS, 65536 + 64);
}

const rows = BACKINGS.flatMap((backing) =>
  CONTENTS.map((content) => [backing, content] as const),
).filter(([backing, content]) => EVERY_CASE || content === 'Block' || backing === 'sparse file');

describeAsRoot('a volume with a signature forged by a pod', () => {
  let kinds: Kinds;
  beforeAll(async () => {
    kinds = await setUpKinds();
  });
  afterEach(() => kinds.clean());
  afterAll(() => kinds.stop());

  async function carry(operation: VolumeOperation, desired: Desired): Promise<Observed> {
    const seen = await carryOut(kinds.executors.local, 'n1', operation, desired);
    if (typeof seen === 'string') throw new Error(seen);
    return seen;
  }

  const paths = EVERY_CASE
    ? ['its own path', 'the path of an earlier version']
    : ['the path of an earlier version'];
  test.each(
    paths.flatMap((path) => rows.map(([backing, content]) => [backing, content, path] as const)),
  )(
    'can still be attached by its link, detached and deleted: %s with %s and %s',
    async (backing, content, name) => {
      const bare = await kinds.desired(backing, content);
      const wanted = name === 'its own path' ? bare : { ...bare, earlierLink: contentLink(bare) };
      const { device, link, identity } = deviceOf(wanted, await carry('provision', wanted));
      const desired = recordedAs(wanted, identity);
      const path = `/dev/${device?.name}`;
      await forge(path, content);
      // The state after a restart: udev creates all links again, here without the rule that
      // provisioning wrote for a slow udev.
      // udev keeps the link of a partition that was removed and added again, and may still have the
      // earlier content.
      await rm(rulePath(desired.uid), { force: true });
      await execa('udevadm', ['control', '--reload']);
      await until(`udev makes no ${link}`, async () => {
        await rm(link, { force: true });
        await execa('udevadm', ['trigger', '--settle', '--action=change', path], { reject: false });
        await execa('udevadm', ['settle']);
        return existsSync(link) ? undefined : true;
      });

      const present = deviceOf(desired, await carry('attach', desired));
      expect((await execa('realpath', [link])).stdout).toBe(`/dev/${present.device?.name}`);
      // The link stays, regardless of later udev events.
      await execa('udevadm', ['trigger', '--settle', '--action=change', path]);
      expect((await execa('realpath', [link])).stdout).toBe(`/dev/${present.device?.name}`);

      await carry('detach', desired);
      if (backing === 'sparse file') expect(existsSync(link)).toBe(false);
      await carry('attach', desired);
      await carry('delete', desired);
      expect(existsSync(rulePath(desired.uid))).toBe(false);
      expect(existsSync(link)).toBe(false);
    },
  );
});
