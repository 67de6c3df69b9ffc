import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open, rm, symlink } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { contentLink, linkOf } from '../../src/storage/links.ts';
import type { Desired } from '../../src/storage/registry.ts';
import type { VolumeOperation } from '../../src/storage/types.ts';
import { carryOut, planNow } from '../support/carry-out.ts';
import { carry } from '../support/kind-cases.ts';
import { BACKINGS, type Backing, type Kinds, recordedAs, setUpKinds } from '../support/kinds.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

/**
 * Writes another volume's UUID to the device of a pod's own volume.
 *
 * Returns the device, open as by the pod. While no process has a partition open, udev may cause the
 * kernel to remove it and add it again, with its paths.
 */
async function forgeUuid(device: string, uuid: string): Promise<FileHandle> {
  const held = await until(`${device} is open`, () => open(device).catch(() => undefined));
  try {
    await execa('mkfs.ext4', ['-q', '-F', '-U', uuid, device]);
    await lookAgain(device);
    return held;
  } catch (error) {
    await held.close();
    throw error;
  }
}

const lookAgain = (device: string) =>
  execa('udevadm', ['trigger', '--settle', '--action=change', device]);
const leadsTo = async (path: string) => (await execa('realpath', [path])).stdout;

describeAsRoot('a Block volume with the forged UUID of another volume', () => {
  let kinds: Kinds;
  beforeAll(async () => {
    kinds = await setUpKinds();
  });
  afterEach(() => kinds.clean());
  afterAll(() => kinds.stop());

  const carried = (operation: VolumeOperation, desired: Desired) =>
    carry(kinds.executors.local, operation, desired);

  /** Creates a volume with data, and the device of another volume that shows its UUID. */
  async function attacked(backing: Backing, attacker: Backing, more: { earlier?: boolean } = {}) {
    const bare = await kinds.desired(backing, 'ext4');
    const wanted = more.earlier ? { ...bare, earlierLink: contentLink(bare) } : bare;
    const { device, identity, link } = await carried('provision', wanted);
    const volume = recordedAs(wanted, identity);
    await kinds.write(volume, link, 'ours');
    const forged = await kinds.desired(attacker, 'Block');
    const other = await carried('provision', forged);
    return {
      volume,
      link,
      path: `/dev/${device?.name}`,
      other: `/dev/${other.device?.name}`,
      forge: () => forgeUuid(`/dev/${other.device?.name}`, volume.uid),
    };
  }

  const pairs = BACKINGS.flatMap((backing, index) =>
    BACKINGS.filter((_, place) => EVERY_CASE || place === index).map(
      (attacker) => [backing, attacker] as const,
    ),
  );
  const some = EVERY_CASE ? BACKINGS : BACKINGS.slice(0, 1);
  test.each(pairs)('the path of a %s is not moved by a %s', async (backing, attacker) => {
    const { volume, link, path, forge } = await attacked(backing, attacker);
    await using _held = await forge();
    expect(await leadsTo(link)).toBe(path);
    // Programs that use the UUID find the volume, too, as long as it is attached.
    expect(await leadsTo(contentLink(volume))).toBe(path);
    expect(await kinds.read(volume, link)).toBe('ours');
  });

  test('the path of a detached volume stays absent until it is attached', async () => {
    const { volume, link, other, forge } = await attacked('sparse file', 'sparse file');
    await carried('detach', volume);
    await using _held = await forge();
    // After a restart, too: a pod that starts now would get the other device by the UUID.
    expect(await leadsTo(contentLink(volume))).toBe(other);
    expect(existsSync(link)).toBe(false);
    await carried('attach', volume);
    expect(await kinds.read(volume, link)).toBe('ours');
  });

  describe('a volume of an earlier version, whose path is its UUID', () => {
    test.each(some)('keeps its path while attached (%s)', async (backing) => {
      const { volume, link, path, forge } = await attacked(backing, 'sparse file', {
        earlier: true,
      });
      expect(link).toBe(contentLink(volume));
      await using _held = await forge();
      expect(await leadsTo(link)).toBe(path);
      expect(await kinds.read(volume, link)).toBe('ours');
    });

    test('reports a device that takes its path, and recovers it when attached', async () => {
      const { volume, link, other, forge } = await attacked('sparse file', 'sparse file', {
        earlier: true,
      });
      await carried('detach', volume);
      await using _held = await forge();
      expect(await leadsTo(link)).toBe(other);
      const planned = await planNow(kinds.executors.local, 'n1', 'attach', volume);
      expect(planned).toMatchObject({
        astray: `${link} leads to ${other}, and the volume has no device`,
      });
      await carried('attach', volume);
      expect(await leadsTo(link)).not.toBe(other);
      expect(await kinds.read(volume, link)).toBe('ours');
    });
  });

  test('a foreign device keeps its path despite a loop device of a kubelet', async () => {
    const folder = await temporaryDirectory('stolen-path');
    const attach = async (file: string) =>
      (await execa('losetup', ['--find', '--show', file])).stdout;
    const loops: string[] = [];
    const uuid = randomUUID();
    try {
      const foreign = `${folder.path}/foreign`;
      await execa('truncate', ['-s', '64M', foreign]);
      await execa('mkfs.ext4', ['-q', '-F', '-U', uuid, foreign]);
      loops.push(await attach(foreign));
      const byUuid = `/dev/disk/by-uuid/${uuid}`;
      await until('udev has created the link', async () => existsSync(byUuid) || undefined);
      const { other } = await attacked('sparse file', 'sparse file');
      // A kubelet's way: a loop device over the device, which is bind-mounted below the kubelet's
      // directory.
      const mapped = `${folder.path}/volumeDevices/pv/pod`;
      await execa('install', ['-D', '/dev/null', mapped]);
      await execa('mount', ['--bind', other, mapped]);
      const loop = await attach(mapped);
      loops.push(loop);
      await using _held = await forgeUuid(other, uuid);
      await lookAgain(loop);
      expect(await leadsTo(byUuid)).toBe(loops[0]);
    } finally {
      for (const each of loops.reverse()) await execa('losetup', ['-d', each], { reject: false });
      await execa('umount', [`${folder.path}/volumeDevices/pv/pod`], { reject: false });
      await folder.remove();
    }
  });

  test.each(some)(
    'a path that a user changed manually is reported and repaired (%s)',
    async (backing) => {
      const { volume, link, path, other } = await attacked(backing, 'sparse file');
      await rm(link);
      await symlink(other, link);
      const planned = await planNow(kinds.executors.local, 'n1', 'attach', volume);
      expect(planned).toMatchObject({
        astray: `${link} leads to ${other}, not to the volume's device ${path}`,
      });
      expect(typeof (await carryOut(kinds.executors.local, 'n1', 'attach', volume))).toBe('object');
      expect(await leadsTo(link)).toBe(path);
    },
  );

  test.each(EVERY_CASE ? BACKINGS : BACKINGS.slice(1, 2))(
    'the path is removed with its volume, even if the data is retained (%s)',
    async (backing) => {
      const desired = await kinds.desired(backing, 'ext4', { onDelete: 'Retain' });
      const { identity, link } = await carried('provision', desired);
      await carried('delete', recordedAs(desired, identity));
      expect(linkOf(desired)).toBe(link);
      expect(existsSync(link)).toBe(false);
      expect(existsSync(`/run/udev/rules.d/61-stowage-${desired.uid}.rules`)).toBe(false);
    },
  );
});
