import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { onTerminal, type Typed } from '../../support/terminal.ts';
import { CONVERGES_WITHIN, NODE, type Scene, startScene } from './scene.ts';

/** Prompts of `create volume`, for a node with its own disks. */

let scene: Scene;
const OLD_UUID = 'b5a1b1c0-0000-4000-8000-00000000abcd';

beforeAll(async () => {
  scene = await startScene();
  await scene.vm.run(['mkfs.ext4', '-q', '-U', OLD_UUID, scene.vm.disk('second')]);
  // lsblk reports udev's data.
  await scene.vm.run(['udevadm', 'trigger', '--action=change', '--subsystem-match=block']);
  await scene.vm.run(['udevadm', 'settle']);
}, 1_800_000);
afterAll(() => scene?.stop());

const ask = (words: string, typed: readonly Typed[]) => {
  const { cluster, vm } = scene;
  const env = { KUBECONFIG: cluster.kubeconfig, STOWAGE_SSH_CONFIG: vm.configFile };
  return onTerminal(`bin/stowage create volume ${words} --no-color`, typed, {
    ...{ env, columns: 200, rows: 50, timeoutMs: CONVERGES_WITHIN },
  });
};
const kernelName = async (disk: string) =>
  (await scene.vm.run(['realpath', scene.vm.disk(disk)])).stdout.replace('/dev/', '');

test(
  'create volume lists disks with model, size and use, and provisions an empty one',
  () =>
    scene.told(async () => {
      const [first, second, parted, group] = await Promise.all(
        ['first', 'second', 'parted', 'group'].map(kernelName),
      );
      const { exitCode, shown } = await ask('picked --on-delete Delete', [
        ['Node that holds the storage:', '\r'],
        ['Kind of storage:', 'a disk\r'],
        // Typed letters select the first option with that prefix.
        [`Device of ${NODE}:`, `/dev/${first}\r`],
        ['Storage class:', '\r'],
        ['When to attach the device to its node:', '\r'],
        ['Create it?', 'y\r'],
      ]);
      expect({ exitCode, shown }).toMatchObject({ exitCode: 0 });
      expect(shown).toMatch(new RegExp(`${NODE} +[0-9.]+[MGT]i free in /var/lib`));
      expect(shown).toMatch(new RegExp(`/dev/${first} +304Mi +QEMU HARDDISK +no signature found`));
      expect(shown).toMatch(new RegExp(`/dev/${second} +304Mi +QEMU HARDDISK +ext4:${OLD_UUID}`));
      expect(shown).toMatch(
        new RegExp(`/dev/${parted} +612Mi +QEMU HARDDISK +gpt +\\(has partitions\\)`),
      );
      expect(shown).toMatch(new RegExp(`/dev/${parted}1 +304Mi +no signature found`));
      expect(shown).toMatch(
        new RegExp(`/dev/${group} +3Gi +QEMU HARDDISK +LVM2_member.* \\(held by .*\\)`),
      );
      expect(shown).toContain('create the ext4 file system');
      const made = await scene.ready('picked', 'True');
      // By a persistent name, and not that of the kernel.
      expect(made.spec.rawBlockDevice).toEqual({ devicePath: scene.vm.disk('first') });
      await scene.cluster.client.delete(VOLUMES, 'picked');
      await scene.gone('picked');
    }),
  4 * CONVERGES_WITHIN,
);

test(
  'create volume refuses a disk with data before the confirmation, with a hint',
  () =>
    scene.told(async () => {
      const second = await kernelName('second');
      const { exitCode, shown } = await ask(`refused --node ${NODE}`, [
        ['Kind of storage:', 'a disk\r'],
        [`Device of ${NODE}:`, `/dev/${second}\r`],
        ['Storage class:', '\r'],
        ['When to attach the device to its node:', '\r'],
      ]);
      expect({ exitCode, shown }).toMatchObject({ exitCode: 5 });
      expect(shown).toContain(`contains ext4:${OLD_UUID}`);
      expect(shown).toMatch(/hint: /);
      expect(shown).not.toContain('Create it?');
      const { items } = await scene.cluster.client.list<Volume>(VOLUMES);
      expect(items.map(({ metadata }) => metadata.name)).toEqual([]);
    }),
  CONVERGES_WITHIN,
);

test(
  'create volume lists a volume group with its free space',
  () =>
    scene.told(async () => {
      const { exitCode, shown } = await ask(`grouped --node ${NODE}`, [
        ['Kind of storage:', 'a logical\r'],
        [`Volume group of ${NODE}:`, '\r'],
        ['Size, such as 10Gi:', '304Mi\r'],
        ['Storage class:', '\r'],
        ['When to attach the device to its node:', '\r'],
        ['Create it?', '\u0003'],
      ]);
      expect({ exitCode, shown }).toMatchObject({ exitCode: 130 });
      expect(shown).toMatch(/vg0 +1\.\dGi free/);
      expect(shown).toContain('a logical volume of 304Mi in vg0');
    }),
  CONVERGES_WITHIN,
);
