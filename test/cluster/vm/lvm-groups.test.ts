import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { FREE_EXTENTS } from '../../../src/storage/lvm/content.ts';
import { onlyDisks, readView, viewProbes } from '../../../src/storage/lvm/view.ts';
import { answersOf } from '../../../src/storage/probe-results.ts';
import type { Desired } from '../../../src/storage/registry.ts';
import { groupRoomProbes, readGroupRoom } from '../../../src/storage/room.ts';
import type { DesiredLvm, DesiredRaw } from '../../../src/storage/types.ts';
import { type LvmNode, MIB, NODE, recordedAs, startLvmNode } from './lvm.ts';

/**
 * Volume groups of the same name on a real LVM: a guest's group on devices of Volumes, and two
 * groups of the node. Also signatures in free extents.
 */

/** Timeout in ms: a VM without hardware acceleration is slow. */
const LONG = 400_000;

describe('volume groups with the same name', () => {
  let lvm: LvmNode;
  beforeAll(async () => {
    lvm = await startLvmNode({ raw: '300M', other: '300M' });
  }, 900_000);
  afterAll(() => lvm?.stop());

  /** Scripts that undo what a test set up, as far as it came. */
  const undo: string[] = [];
  afterEach(async () => {
    for (const script of undo.splice(0).toReversed()) {
      await lvm.vm.run(['sh', '-c', script], { reject: false });
    }
    for (const name of await lvm.volumes()) {
      const script = 'lvchange -ay -K "$1"; blkdiscard -fz "$1"; lvremove --yes "$1"';
      await lvm.vm.run(['sh', '-c', script, 'sh', `/dev/vg0/${name}`], { reject: false });
    }
    const fill =
      'lvcreate -qq -Wn -Zn -l 100%FREE -n all vg0 && blkdiscard -z /dev/vg0/all; lvremove -y vg0/all';
    await lvm.vm.run(['sh', '-c', fill]);
  }, LONG);

  const sh = async (script: string, ...words: string[]) =>
    (await lvm.vm.run(['sh', '-c', script, 'sh', ...words])).stdout;
  const make = async (desired: DesiredLvm): Promise<DesiredLvm> =>
    recordedAs(desired, await lvm.carry('provision', desired));

  /**
   * Creates a volume group vg0 with a logical volume on a device, as a guest does that has no other
   * device.
   */
  async function guestOn(device: string, active: boolean): Promise<() => Promise<string>> {
    const see = onlyDisks([device]);
    // vgcreate requires that this directory does not exist. udev may create it again meanwhile.
    await sh(
      `rm -rf /dev/kept; [ ! -d /dev/vg0 ] || mv -T /dev/vg0 /dev/kept
      vgcreate --config "$2" -s 4M vg0 "$1" && lvcreate --config "$2" --yes -an -Zn -Wn -l 10 -n guest vg0
      got=$?
      [ ! -d /dev/kept ] || { mkdir -p /dev/vg0; cp -Pn /dev/kept/* /dev/vg0/; rm -rf /dev/kept; }
      exit $got`,
      ...[device, see],
    );
    // A node may activate or deactivate a group that it detects.
    await sh(`lvchange --config "$1" -a${active ? 'y' : 'n'} vg0/guest`, see);
    undo.push(`lvchange --config '${see}' -an vg0/guest; wipefs -af ${device}`);
    return () =>
      sh(
        'sync; vgs --config "$2" --noheadings -o vg_uuid,vg_seqno,lv_count vg0; sha256sum <"$1"',
        ...[device, see],
      );
  }

  async function loopOver(file: string): Promise<string> {
    const loop = await sh('losetup -f --show "$1"', file);
    undo.push(`losetup -d ${loop}`);
    return loop;
  }

  async function inFile(): Promise<string> {
    const file = `/var/lib/metalk8s/storage/sparse/${randomUUID()}`;
    await sh('mkdir -p "$2" && truncate -s 200M "$1"', file, '/var/lib/metalk8s/storage/sparse');
    undo.push(`rm -f ${file}`);
    return loopOver(file);
  }

  /** Creates a loop device over a logical volume, as the kubelet does for mode Block. */
  async function inLogicalVolume(): Promise<string> {
    const block = await make(lvm.desired('Block', { sizeBytes: 200n * MIB }));
    return loopOver(`/dev/vg0/${block.name}`);
  }

  /** Creates a logical volume that LVM itself scans, as an administrator may configure it. */
  async function inLogicalVolumeThatIsScanned(): Promise<string> {
    const conf = '/etc/lvm/lvmlocal.conf';
    await sh(`cp -n ${conf} ${conf}.kept; echo 'devices { scan_lvs = 1 }' >>${conf}`);
    undo.push(`mv ${conf}.kept ${conf}`);
    const block = await make(lvm.desired('Block', { sizeBytes: 200n * MIB }));
    return sh('readlink -f "$1"', `/dev/vg0/${block.name}`);
  }

  async function onDisk(): Promise<string> {
    const desired: DesiredRaw = {
      ...lvm.desired('Block'),
      type: 'raw',
      name: 'disk-1',
      devicePath: lvm.vm.disk('raw'),
      onDelete: 'Wipe',
    };
    const device = await lvm.carry('provision', desired);
    if (typeof device === 'string') throw new Error(device);
    const recorded: Desired = recordedAs(desired, device);
    const disk = lvm.vm.disk('raw');
    // The kernel keeps the partition of a removed table until it is updated.
    undo.push(
      `rm -f /var/lib/stowage/volumes/${recorded.uid}.*; blkdiscard -fz ${disk}; udevadm settle; partx -d $(readlink -f ${disk}); udevadm settle`,
    );
    return sh('readlink -f "$1"', device.link);
  }

  /** Runs all operations of logical volumes. */
  async function live(old: DesiredLvm): Promise<void> {
    expect(await lvm.planned('attach', old)).toEqual([]);
    expect(
      await lvm.carry('attach', { ...old, sizeBytes: old.sizeBytes + 32n * MIB }),
    ).toMatchObject({
      device: { sizeBytes: old.sizeBytes + 32n * MIB },
    });
    const thick = await make(lvm.desired('ext4'));
    const thin = await make(lvm.desired('ext4', { thinPool: 'pool' }));
    const source = {
      what: 'volume' as const,
      vgName: 'vg0',
      name: thin.name,
      uid: thin.uid,
      mode: thin.mode,
    };
    const clone = await make(lvm.desired('ext4', { thinPool: 'pool', source }));
    const view = readView(answersOf(await lvm.executor.observe(NODE, viewProbes())));
    const seen = await lvm.executor.observe(NODE, groupRoomProbes(view, 'vg0'));
    expect(readGroupRoom(view, 'vg0', 'pool', seen).made.has(clone.name)).toBe(true);
    await lvm.vm.run([
      'lvchange',
      '--devices',
      `${lvm.vm.disk('pv1')},${lvm.vm.disk('pv2')}`,
      '-an',
      `vg0/${thick.name}`,
    ]);
    expect(await lvm.carry('attach', thick)).toMatchObject({ device: {} });
    for (const each of [clone, thin, thick]) {
      expect(await lvm.carry('delete', each)).toMatchObject({ device: undefined });
    }
  }

  test.each([
    ['in a file', inFile, false],
    ['in a file, and active', inFile, true],
    ['on the kubelet’s loop device over a logical volume', inLogicalVolume, false],
    ['in a logical volume that LVM scans', inLogicalVolumeThatIsScanned, false],
    ['on a disk', onDisk, false],
    ['on a disk, and active', onDisk, true],
  ])(
    'operations on the node’s group leave a guest’s group unchanged: %s',
    async (_, place, active) => {
      const old = await make(lvm.desired('ext4'));
      const content = await guestOn(await place(), active);
      // LVM itself refuses the ambiguous name.
      const { exitCode } = await lvm.vm.run(['lvs', 'vg0'], { reject: false });
      expect(exitCode).not.toBe(0);
      const before = await content();
      await live(old);
      expect(await content()).toBe(before);
    },
    3 * LONG,
  );

  test(
    'operations leave a copy of the node’s disk with the same UUIDs unchanged',
    async () => {
      const old = await make(lvm.desired('ext4'));
      const loop = await inFile();
      await sh('dd if="$1" of="$2" bs=1M count=4 conv=fsync status=none', lvm.vm.disk('pv1'), loop);
      expect((await lvm.vm.run(['pvs'], { reject: false })).stderr).toContain('Not using device');
      const before = await sh('sync; sha256sum <"$1"', loop);
      await live(old);
      expect(await sh('sync; sha256sum <"$1"', loop)).toBe(before);
    },
    3 * LONG,
  );

  test(
    'with two groups of the node, the recorded one is used, and new Volumes are refused',
    async () => {
      const old = await make(lvm.desired('ext4'));
      const device = await sh('readlink -f "$1"', lvm.vm.disk('other'));
      const content = await guestOn(device, false);
      const before = await content();
      expect(
        await lvm.carry('attach', { ...old, sizeBytes: old.sizeBytes + 32n * MIB }),
      ).toMatchObject({
        device: { sizeBytes: old.sizeBytes + 32n * MIB },
      });
      const refused = String(await lvm.carry('provision', lvm.desired('ext4')));
      expect(refused).toMatch(/^the node has several volume groups named vg0: \S{38} and \S{38}$/);
      expect(refused).toContain(before.trim().split(' ')[0]);
      expect(await lvm.carry('delete', old)).toMatchObject({ device: undefined });
      expect(await content()).toBe(before);
    },
    2 * LONG,
  );

  describe('free extents with the signature of a removed volume', () => {
    /** Leaves an XFS signature in free extents. @returns their bytes */
    async function leave(size: string): Promise<bigint> {
      await lvm.vm.run(['lvcreate', '--yes', ...size.split(' '), '-n', 'old', 'vg0']);
      const bytes = BigInt(await sh('blockdev --getsize64 /dev/vg0/old'));
      await lvm.vm.run(['mkfs.xfs', '-q', '-f', '/dev/vg0/old']);
      await lvm.vm.run(['lvremove', '--yes', 'vg0/old']);
      return bytes;
    }

    test(
      'are skipped and left unchanged if other extents are free',
      async () => {
        await leave(`-L 304M`);
        const is = () =>
          sh(
            'for each; do blkid -p -O 1048576 -o value -s TYPE "$each"; done; true',
            lvm.vm.disk('pv1'),
            lvm.vm.disk('pv2'),
          );
        const first = lvm.desired('Block', { sizeBytes: 200n * MIB });
        const plan = await lvm.planned('provision', first);
        expect(plan).toContainEqual(expect.stringMatching(/^lvcreate .* vg0 \/dev\/\S+:\d+-\d+/));
        const before = await is();
        const made = await make(first);
        expect(await is()).toBe(before);
        expect(await lvm.carry('delete', made)).toMatchObject({ device: undefined });
      },
      LONG,
    );

    test(
      'are used only with consent if no other extents are free',
      async () => {
        const sizeBytes = await leave('-l 100%FREE');
        const desired = lvm.desired('xfs', { sizeBytes });
        expect(await lvm.carry('provision', desired)).toMatch(
          /^the free extents of vg0 .* contain xfs:/,
        );
        expect(await lvm.volumes()).toEqual([]);
        expect(await lvm.carry('provision', { ...desired, overwrite: 'xfs' })).toMatch(
          /to be destroyed$/,
        );
        const made = await make({ ...desired, overwrite: FREE_EXTENTS });
        expect(await lvm.planned('attach', made)).toEqual([]);
        expect(await lvm.carry('delete', made)).toMatchObject({ device: undefined });
      },
      2 * LONG,
    );
  });
});
