import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { groupProbes, segmentsProbe, volumesProbe } from '../../../src/storage/lvm/report.ts';
import { onlyDisks } from '../../../src/storage/lvm/view.ts';
import { scriptArgv } from '../../../src/storage/scripts/scripts.ts';
import type { DesiredLvm } from '../../../src/storage/types.ts';
import { planNow, runSteps } from '../../support/carry-out.ts';
import { CONTENTS, type Content } from '../../support/kinds.ts';
import { otherScript } from '../../support/other-script.ts';
import { drawSeed, seeded } from '../../support/random.ts';
import { type LvmNode, MIB, NODE, recordedAs, startLvmNode } from './lvm.ts';

/** Logical volumes on a kernel with device-mapper, with LVM and udev as on a node. */

/** Timeout in ms: a VM without hardware acceleration is slow. */
const LONG = 240_000;
const random = seeded(drawSeed());

const KINDS = (['thick', 'thin'] as const).flatMap((kind) =>
  CONTENTS.map((content) => [kind, content] as const),
);
const inPool = (kind: 'thick' | 'thin') => (kind === 'thin' ? { thinPool: 'pool' } : {});

describe('logical volumes in a VM', () => {
  let lvm: LvmNode;
  beforeAll(async () => {
    lvm = await startLvmNode({ flushed: '200M' });
  }, 900_000);
  afterAll(() => lvm?.stop());
  afterEach(async () => {
    // Neither remaining logical volumes nor their signatures may affect the next test.
    for (const name of await lvm.volumes()) {
      const script = 'umount "$1"; lvchange -ay -K "$1"; blkdiscard -fz "$1"; lvremove --yes "$1"';
      await lvm.vm.run(['sh', '-c', script, 'sh', `/dev/vg0/${name}`], { reject: false });
    }
    // XFS also has headers in its middle, which prevent other volumes from growing there.
    const fill =
      'lvcreate -qq -Wn -Zn -l 100%FREE -n all vg0 && blkdiscard -z /dev/vg0/all; lvremove -y vg0/all';
    await lvm.vm.run(['sh', '-c', fill]);
  }, LONG);

  const made = async (desired: DesiredLvm): Promise<[DesiredLvm, string]> => {
    const device = await lvm.carry('provision', desired);
    const recorded = recordedAs(desired, device);
    return [recorded, typeof device === 'string' ? '' : device.link];
  };
  const lv = ({ name }: DesiredLvm) => `/dev/vg0/${name}`;

  test.each(KINDS)(
    'a %s volume with %s is provisioned in one job, observed, expanded and deleted',
    async (kind, content) => {
      const desired = lvm.desired(content, inPool(kind));
      const plan = await lvm.planned('provision', desired);
      expect(plan).toContainEqual(expect.stringMatching(/^lvcreate (--config \S+ )?--name /));
      const [recorded, link] = await made(desired);
      expect(await lvm.node.exists(link)).toBe(true);
      expect(link).toBe(`/dev/disk/by-id/stowage-${desired.uid}`);
      await lvm.node.write(content, link, 'kept');
      expect(await lvm.planned('provision', recorded)).toEqual([]);
      expect(await lvm.planned('attach', recorded)).toEqual([]);

      const larger = { ...recorded, sizeBytes: recorded.sizeBytes + 30n * MIB };
      const grown = await lvm.carry('attach', larger);
      expect(grown).toMatchObject({ device: { sizeBytes: recorded.sizeBytes + 32n * MIB } });
      expect(await lvm.node.read(content, link)).toBe('kept');
      if (content !== 'Block') {
        const point = await lvm.node.mount(link, 'grown');
        const { stdout } = await lvm.vm.run(['df', '-B1', '--output=size', point]);
        await lvm.vm.run(['umount', point]);
        expect(Number(stdout.split('\n')[1])).toBeGreaterThan(Number(recorded.sizeBytes) * 0.75);
      }

      expect(await lvm.carry('delete', larger)).toMatchObject({ device: undefined });
      expect(await lvm.volumes()).toEqual([]);
      expect(await lvm.node.exists(link)).toBe(false);
      expect(await lvm.planned('delete', larger)).toEqual([]);
      expect(
        (await lvm.node.tracesOf(desired.uid)).filter((path) => !path.startsWith('/run/')),
      ).toEqual([]);
      // The signature was removed with it, so that the next volume is not refused.
      const next = lvm.desired(content, inPool(kind));
      expect((await made(next))[1]).not.toBe('');
      await lvm.carry('delete', next);
    },
    LONG,
  );

  test.each(KINDS)(
    'a %s volume with %s survives a reboot or power cut, expands online, and is retained',
    async (kind, content) => {
      const desired = lvm.desired(content, { ...inPool(kind), onDelete: 'Retain' });
      const [recorded, link] = await made(desired);
      await lvm.node.write(content, link, 'kept');
      if (kind === 'thick') await lvm.vm.reboot();
      else {
        await lvm.vm.powerCut();
        await lvm.vm.boot();
      }
      // LVM's autoactivation may have been faster, or may be off.
      await lvm.vm.run(['lvchange', '--activate', 'n', lv(desired)], { reject: false });
      await lvm.vm.run(['lvchange', '--setactivationskip', 'y', lv(desired)]);
      expect(await lvm.carry('attach', recorded)).toMatchObject({ link });
      expect(await lvm.node.exists(link)).toBe(true);
      expect(await lvm.node.read(content, link)).toBe('kept');
      if (content !== 'Block') {
        const point = await lvm.node.mount(link, 'used');
        const larger = { ...recorded, sizeBytes: recorded.sizeBytes + 32n * MIB };
        expect(await lvm.carry('attach', larger)).toMatchObject({
          device: { sizeBytes: larger.sizeBytes },
        });
        const wanting = { ...larger, onDelete: 'Delete' as const };
        expect(await lvm.carry('delete', wanting)).toMatch(/is in use: mounted at /);
        expect((await lvm.vm.run(['cat', `${point}/data`])).stdout).toBe('kept');
        await lvm.vm.run(['umount', point]);
      }
      await lvm.carry('delete', recorded);
      expect(await lvm.volumes()).toEqual([desired.name]);
      // LVM may print additional messages.
      const { stdout: tags } = await lvm.vm.run([
        'lvs',
        '--noheadings',
        '-o',
        'lv_tags',
        lv(desired),
      ]);
      expect(tags.replaceAll('Retrying metadata scan.', '').trim()).toBe('');
      expect(await lvm.node.exists(link)).toBe(false);
      expect(await lvm.node.read(content, lv(desired))).toBe('kept');
      expect(await lvm.planned('delete', recorded)).toEqual([]);
      // The volume no longer belongs to any Volume, also not to another one of the same name.
      const again = lvm.desired(content, { ...inPool(kind), name: desired.name });
      expect(await lvm.carry('provision', again)).toMatch(
        /a logical volume vg0\/.* already exists/,
      );
    },
    LONG,
  );

  test.each(KINDS.filter(([, content]) => content !== 'xfs'))(
    'Wipe overwrites the data of a %s volume with %s before deletion',
    async (kind, content) => {
      const desired = lvm.desired(content, { ...inPool(kind), onDelete: 'Wipe' });
      const [recorded, link] = await made(desired);
      const secret = `stowage-${desired.uid}`;
      await lvm.node.write(content, link, secret);
      expect(await onDisks(secret)).toBe(true);
      expect(await lvm.carry('delete', recorded)).toMatchObject({ device: undefined });
      expect(await lvm.volumes()).toEqual([]);
      expect(await onDisks(secret)).toBe(false);
    },
    LONG,
  );

  /** Reports whether any disk of the group contains a text. */
  async function onDisks(text: string): Promise<boolean> {
    await lvm.vm.run(['sync']);
    await lvm.vm.run(['sh', '-c', 'echo 1 >/proc/sys/vm/drop_caches']);
    const disks = [lvm.vm.disk('pv1'), lvm.vm.disk('pv2')];
    // Splits at NULs: a line of them would exceed grep's memory.
    const { exitCode } = await lvm.vm.run(['grep', '-qzaF', text, ...disks], { reject: false });
    return exitCode === 0;
  }

  describe('preconditions', () => {
    test(
      'refuses a volume group or thin pool that is full or does not exist',
      async () => {
        expect(
          await lvm.carry('provision', lvm.desired('Block', { sizeBytes: 9000n * MIB })),
        ).toMatch(/^the volume group vg0 has \d+ bytes left, and the Volume needs 9437184000$/);
        const begun = lvm.desired('ext4', { thinPool: 'pool', sizeBytes: 90_000n * MIB });
        expect(await lvm.carry('provision', begun)).toMatch(
          /^the thin pool vg0\/pool has \d+ bytes left of /,
        );
        expect(await lvm.carry('provision', lvm.desired('ext4', { thinPool: 'none' }))).toBe(
          'there is no thin pool vg0/none',
        );
        expect(await lvm.carry('provision', lvm.desired('ext4', { vgName: 'vg9' }))).toMatch(
          /no volume group vg9/,
        );
        expect(await lvm.volumes()).toEqual([]);
      },
      LONG,
    );

    test(
      'refuses and keeps an unrelated logical volume of the same name',
      async () => {
        const desired = lvm.desired('ext4');
        await lvm.vm.run(['lvcreate', '-L', '64M', '-n', desired.name, 'vg0']);
        await lvm.vm.run(['mkfs.ext4', '-q', lv(desired)]);
        expect(await lvm.carry('provision', desired)).toMatch(
          /already exists, and nothing shows that it was created/,
        );
        expect(await lvm.carry('delete', desired)).toMatchObject({});
        expect(await lvm.volumes()).toEqual([desired.name]);
      },
      LONG,
    );

    test(
      'refuses extents with a signature until consent names it, even with force-lvcreate',
      async () => {
        const uuid = '11111111-2222-4333-8444-555555555555';
        await lvm.vm.run(['lvcreate', '-l', '100%FREE', '-n', 'old', 'vg0']);
        const { stdout: size } = await lvm.vm.run(['blockdev', '--getsize64', '/dev/vg0/old']);
        await lvm.vm.run(['mkfs.ext4', '-q', '-U', uuid, '/dev/vg0/old']);
        await lvm.vm.run(['lvremove', '--yes', 'vg0/old']);
        // The whole size, so that no other extents are free.
        const desired = lvm.desired('ext4', { forced: true, sizeBytes: BigInt(size) });
        expect(await lvm.carry('provision', desired)).toMatch(
          new RegExp(`for the logical volume contain ext4:${uuid} .*force-lvcreate does not name`),
        );
        expect(await lvm.carry('provision', { ...desired, overwrite: 'ext4' })).toMatch(
          /to be destroyed$/,
        );
        expect(await lvm.volumes()).toEqual([]);
        const consenting = { ...desired, overwrite: `ext4:${uuid}` };
        const [recorded] = await made(consenting);
        await lvm.carry('delete', recorded);
      },
      LONG,
    );

    test(
      'a copy of a volume in free extents, seen only by LVM, never takes over its link',
      async () => {
        const live = lvm.desired('ext4');
        const [recorded, link] = await made(live);
        await lvm.node.write('ext4', link, 'kept');
        // A copy in free extents, as pvmove leaves it. LVM detects it, but the observation before
        // did not.
        const { stdout } = await lvm.vm.run(['readlink', '-f', link]);
        const desired = lvm.desired('Block');
        const plan = await lvm.planned('provision', desired);
        const step = Array.isArray(plan)
          ? plan.find((line) => line.startsWith('lvcreate'))
          : undefined;
        expect(step).toBeDefined();
        await lvm.vm.run(['lvcreate', '--yes', '-L', '64M', '-n', 'copy', 'vg0']);
        await lvm.vm.run([
          'sh',
          '-c',
          'dd if="$1" of=/dev/vg0/copy bs=1M conv=fsync status=none',
          'sh',
          lv(live),
        ]);
        await lvm.vm.run(['lvremove', '--yes', 'vg0/copy']);
        await lvm.vm.run(['udevadm', 'trigger', '--action=change', `--name-match=${stdout}`]);
        await lvm.vm.run(['udevadm', 'settle']);
        const watch = lvm.vm.run([
          'sh',
          '-c',
          'udevadm monitor --udev --property --subsystem-match=block & sleep 8; kill $!',
        ]);
        const said = await lvm.vm.run((step ?? '').split(' '), { reject: false });
        expect(said.exitCode).not.toBe(0);
        expect(said.stderr).toMatch(/ext4 signature detected on .*Wipe it\?/);
        expect((await lvm.volumes()).includes(desired.name)).toBe(false);
        expect((await lvm.vm.run(['readlink', '-f', link])).stdout).toBe(stdout);
        const events = (await watch).stdout
          .split('\n\n')
          .filter((event) => event.includes(desired.name));
        expect(events.filter((event) => event.includes(live.uid))).toEqual([]);
        expect(await lvm.node.read('ext4', link)).toBe('kept');
        // The next attempt uses other extents.
        const [elsewhere] = await made(desired);
        expect((await lvm.vm.run(['readlink', '-f', link])).stdout).toBe(stdout);
        expect(await lvm.node.read('ext4', link)).toBe('kept');
        await lvm.carry('delete', elsewhere);
        await lvm.carry('delete', recorded);
      },
      LONG,
    );

    test(
      'refuses to delete a volume in use or with snapshots, and to provision without a disk',
      async () => {
        const desired = lvm.desired('ext4', { onDelete: 'Delete' });
        const [recorded, link] = await made(desired);
        const point = await lvm.node.mount(link, 'busy');
        expect(await lvm.carry('delete', recorded)).toMatch(/is in use: mounted at/);
        await lvm.vm.run(['umount', point]);
        await lvm.vm.run(['lvcreate', '-s', '-L', '16M', '-n', 'snap', lv(desired)]);
        expect(await lvm.carry('delete', recorded)).toMatch(/has snapshots/);
        expect(await lvm.volumes()).toEqual([desired.name, 'snap']);
        await lvm.vm.run(['lvremove', '--yes', 'vg0/snap']);
        await lvm.vm.unplug('pv2');
        expect(await lvm.carry('provision', lvm.desired('ext4'))).toMatch(
          /physical volume .* is missing$/,
        );
        await lvm.vm.plug('pv2');
        await lvm.vm.run(['udevadm', 'settle']);
        expect(await lvm.carry('delete', recorded)).toMatchObject({ device: undefined });
      },
      LONG,
    );
  });

  test(
    'deletes only the volume with the recorded UUID, not another one with its name or tag',
    async () => {
      const desired = lvm.desired('ext4', { onDelete: 'Delete' });
      const [recorded] = await made(desired);
      const tag = `stowage.dev/uid=${desired.uid}`;
      await lvm.vm.run(['lvcreate', '--yes', '-L', '64M', '-n', 'copy', '--addtag', tag, 'vg0']);
      expect(await lvm.carry('delete', desired)).toMatch(/^several logical volumes have the tag/);
      await lvm.vm.run(['lvrename', 'vg0', desired.name, 'old']);
      // Its logical volume is gone. The other one with the tag is reported, and not changed.
      expect(await lvm.carry('delete', recorded)).toBe(
        'vg0/copy is not the logical volume that was created for this Volume',
      );
      expect(await lvm.volumes()).toEqual(['copy']);
    },
    LONG,
  );

  test(
    'a disk with truncated LVM metadata, as after a power cut, blocks no operation',
    async () => {
      const { vm } = lvm;
      const desired = lvm.desired('ext4');
      const [recorded, link] = await made(desired);
      await lvm.node.write('ext4', link, 'kept');
      // LVM then uses the metadata of the other disk, prints a notice, and may repair this disk on
      // its next write.
      const isCutOff = async () => {
        const { stdout } = await vm.run([
          'lvs',
          '--noheadings',
          '-o',
          'lv_uuid',
          `vg0/${desired.name}`,
        ]);
        return stdout.includes('Retrying metadata scan.');
      };
      const cutOff = async () => {
        if (await isCutOff()) return;
        const text = ['bs=512', 'seek=9', 'count=2000', 'conv=notrunc,fsync', 'status=none'];
        const area = 'bs=512 skip=9 count=2000 status=none';
        // LVM uses the metadata of the disk that it finds first, which depends on the disks plugged
        // in since the boot.
        for (const disk of [vm.disk('pv2'), vm.disk('pv1')]) {
          await vm.run(['sh', '-c', `dd if="$1" of=/run/kept ${area}`, 'sh', disk]);
          await vm.run(['dd', 'if=/dev/zero', `of=${disk}`, ...text]);
          if (await isCutOff()) return;
          await vm.run(['dd', 'if=/run/kept', `of=${disk}`, ...text]);
        }
        throw new Error('LVM reads the text of neither disk');
      };
      await cutOff();
      const larger = { ...recorded, sizeBytes: recorded.sizeBytes + 32n * MIB };
      expect(await lvm.carry('attach', larger)).toMatchObject({
        device: { sizeBytes: larger.sizeBytes },
      });
      expect(await lvm.node.read('ext4', link)).toBe('kept');
      await cutOff();
      expect(await lvm.carry('delete', larger)).toMatchObject({ device: undefined });
      expect(await lvm.volumes()).toEqual([]);
      // Other tests unplug the other disk.
      await vm.run(['vgck', '--updatemetadata', 'vg0']);
    },
    LONG,
  );

  test(
    'an lvm.conf with use_blkid_wiping=0 does not let LVM overwrite signatures',
    async () => {
      const uuid = '11111111-2222-4333-8444-666666666666';
      await lvm.vm.run(['lvcreate', '--yes', '-l', '100%FREE', '-n', 'old', 'vg0']);
      await lvm.vm.run(['mkfs.ext4', '-q', '-U', uuid, '/dev/vg0/old']);
      const { stdout: size } = await lvm.vm.run(['blockdev', '--getsize64', '/dev/vg0/old']);
      // The whole size, so that no other extents are free.
      const desired = lvm.desired('ext4', { sizeBytes: BigInt(size) });
      const edit = (value: number) =>
        lvm.vm.run([
          'sh',
          '-c',
          `printf 'allocation/use_blkid_wiping=${value}\n' >/etc/lvm/lvmlocal.conf`,
        ]);
      await lvm.vm.run(['lvremove', '--yes', 'vg0/old']);
      await edit(0);
      try {
        const argv = [
          'lvcreate',
          '--config',
          'allocation/use_blkid_wiping=1',
          '--name',
          desired.name,
        ];
        const wiped = ['--extents', '16', '--wipesignatures', 'y', '--zero', 'y', 'vg0'];
        const said = await lvm.vm.run([...argv, ...wiped], { reject: false });
        expect(said.exitCode).not.toBe(0);
        expect(said.stderr).toMatch(/ext4 signature detected on .*Wipe it\?/);
        expect(await lvm.carry('provision', desired)).toMatch(`contain ext4:${uuid}`);
      } finally {
        await lvm.vm.run(['rm', '-f', '/etc/lvm/lvmlocal.conf']);
        await lvm.carry('delete', (await made({ ...desired, overwrite: `ext4:${uuid}` }))[0]);
      }
    },
    LONG,
  );

  test(
    'internal devices of a thin pool are refused as raw devices',
    async () => {
      const { stdout } = await lvm.vm.run(['sh', '-c', 'ls /dev/mapper/vg0-pool*']);
      for (const devicePath of stdout.split('\n')) {
        const {
          vgName: _,
          thinPool: __,
          forced: ___,
          sizeBytes: ____,
          ...raw
        } = lvm.desired('ext4');
        const plan = await planNow(lvm.executor, NODE, 'provision', {
          ...raw,
          type: 'raw',
          devicePath,
        });
        expect(plan).toMatchObject({
          refusal: expect.stringMatching(
            /internal device of LVM|in use|is read-only$|without a disk behind it$/,
          ),
        });
      }
    },
    LONG,
  );

  test(
    'a volume of MetalK8s is tagged only while no disk of the group is missing',
    async () => {
      const desired = lvm.desired('Block', { onDelete: 'Retain' });
      await lvm.vm.run([
        'lvcreate',
        '--yes',
        '-L',
        '64M',
        '-n',
        desired.name,
        'vg0',
        lvm.vm.disk('pv1'),
      ]);
      const [recorded] = [recordedAs(desired, await lvm.carry('attach', desired))];
      await lvm.vm.unplug('pv2');
      try {
        expect(await lvm.planned('attach', recorded)).toEqual([]);
      } finally {
        await lvm.vm.plug('pv2');
        await lvm.vm.run(['udevadm', 'settle']);
      }
      expect(await lvm.planned('attach', recorded)).toEqual([
        expect.stringMatching(/^lvchange .*--addtag /),
        expect.stringMatching(/^sync /),
      ]);
    },
    LONG,
  );

  test.each<['Wipe' | 'Delete', string, Partial<DesiredLvm>?]>([
    ['Wipe', 'nothing'],
    ['Delete', 'its data'],
    ['Delete', 'nothing if it is for a claim, even if jobs are killed', { zeroed: true }],
  ])(
    'a thick Block volume in extents of a volume deleted with %s contains %s',
    async (onDelete, _, more = {}) => {
      const clean = onDelete === 'Wipe' || more.zeroed === true;
      const [first] = await made(lvm.desired('Block', { onDelete }));
      const larger = { ...first, sizeBytes: first.sizeBytes + 32n * MIB };
      expect(await lvm.carry('attach', larger)).toMatchObject({
        device: { sizeBytes: larger.sizeBytes },
      });
      const size = String(larger.sizeBytes / MIB);
      const write =
        'yes of-an-earlier-tenant | dd of="$1" bs=1M count="$2" iflag=fullblock conv=notrunc,nocreat,fsync status=none';
      await lvm.vm.run(['sh', '-c', write, 'sh', lv(first), size]);
      const extentsOf = async (desired: DesiredLvm) => {
        const ranges = ['lvs', '--noheadings', '-o', 'seg_pe_ranges', `vg0/${desired.name}`];
        return (await lvm.vm.run(ranges)).stdout.trim();
      };
      const extents = await extentsOf(first);
      expect(await lvm.carry('delete', larger)).toMatchObject({ device: undefined });

      const wanted = lvm.desired('Block', { sizeBytes: larger.sizeBytes, onDelete, ...more });
      for (let kill = 0; more.zeroed && kill < 4; kill++) {
        await lvm.killAfter('provision', wanted, Math.floor(random() * 1500));
      }
      const [next] = await made(wanted);
      // The read proves nothing in other extents.
      expect(await extentsOf(next)).toBe(extents);
      const look = ['grep', '-c', '-a', 'of-an-earlier-tenant', lv(next)];
      const { stdout } = await lvm.vm.run(look, { reject: false });
      expect(Number(stdout) > 0).toBe(!clean);
      const zero = ['cmp', `--bytes=${larger.sizeBytes}`, '--', lv(next), '/dev/zero'];
      expect((await lvm.vm.run(zero, { reject: false })).exitCode === 0).toBe(clean);
      await lvm.carry('delete', next);
    },
    LONG,
  );

  test(
    'provisioning and deletion flush the disks of the group, which LVM does not do',
    async () => {
      const { vm } = lvm;
      const disk = vm.disk('flushed');
      const flushes = async () => {
        const script =
          'set -- $(cat "/sys/block/$(basename "$(readlink -f "$1")")/stat"); shift 15; echo "$1"';
        return Number((await vm.run(['sh', '-c', script, 'sh', disk])).stdout);
      };
      await vm.run(['vgcreate', 'vg1', disk]);
      expect(await flushes()).toBe(0);
      const [recorded] = await made(lvm.desired('Block', { vgName: 'vg1' }));
      const atMake = await flushes();
      expect(atMake).toBeGreaterThan(0);
      expect(await lvm.carry('delete', recorded)).toMatchObject({ device: undefined });
      expect(await flushes()).toBeGreaterThan(atMake);
    },
    LONG,
  );

  const lives: [string, Content][] = [
    ['thick', 'ext4'],
    ['thin', 'ext4'],
    ['thick', 'Block'],
  ];
  test.each(lives)(
    'a %s volume with %s recovers from jobs killed at random points',
    async (kind, content) => {
      const desired = lvm.desired(content, inPool(kind as 'thick'));
      const states: unknown[] = [];
      for (let kill = 0; kill < 3; kill++) {
        states.push(
          (await lvm.killAfter('provision', desired, Math.floor(random() * 1500)))?.state,
        );
      }
      const [recorded, link] = await made(desired);
      await lvm.node.write(content, link, 'kept');
      const larger = { ...recorded, sizeBytes: recorded.sizeBytes + 32n * MIB };
      for (let kill = 0; kill < 2; kill++) {
        states.push((await lvm.killAfter('attach', larger, Math.floor(random() * 800)))?.state);
      }
      expect(await lvm.carry('attach', larger)).toMatchObject({
        device: { sizeBytes: larger.sizeBytes },
      });
      expect(await lvm.node.read(content, link)).toBe('kept');
      for (let kill = 0; kill < 3; kill++) {
        states.push((await lvm.killAfter('delete', larger, Math.floor(random() * 1500)))?.state);
      }
      expect(await lvm.carry('delete', larger)).toMatchObject({ device: undefined });
      expect(await lvm.volumes()).toEqual([]);
      expect(
        (await lvm.node.tracesOf(desired.uid)).filter((path) => !path.startsWith('/run/')),
      ).toEqual([]);
      process.stderr.write(`${kind} ${content}, killed: ${states.join(', ')}\n`);
    },
    LONG,
  );

  test.each(['provision', 'delete'] as const)(
    'a thin volume that lvcreate left out of its pool is removed: %s',
    async (operation) => {
      const pool = `unsent_${operation}`;
      const thinPool = ['--type', 'thin-pool', '-L', '160M', '-n', pool, 'vg0'];
      await lvm.vm.run(['lvcreate', '--yes', ...thinPool]);
      const desired = lvm.desired('ext4', { thinPool: pool, onDelete: 'Wipe' });
      const plan = await planNow(lvm.executor, NODE, 'provision', desired);
      const steps = 'steps' in plan ? plan.steps : [];
      const at = steps.findIndex(({ argv }) => argv[0] === 'lvcreate');
      await runSteps(lvm.executor, NODE, desired, steps.slice(0, at));
      await lvm.vm.run(steps[at]?.argv ?? []);
      await lvm.vm.run(['lvchange', '--activate', 'n', lv(desired)]);
      // As if LVM was killed before it sent the message to the pool that creates the volume.
      const unsend = [
        'set -eu',
        'id=$(lvs --noheadings -o thin_id "$2" | tr -d " ")',
        'dmsetup message "$3" 0 "delete $id"',
        'dmsetup message "$3" 0 "set_transaction_id 1 0"',
        'vgcfgbackup --file /tmp/vg0 vg0',
        'sed -i "s/transaction_id = 1\\$/&\\nmessage1 {\\ncreate = \\"$1\\"\\n}/" /tmp/vg0',
        'vgcfgrestore --yes --force --file /tmp/vg0 vg0',
      ].join('\n');
      const names = [desired.name, lv(desired), `vg0-${pool}-tpool`];
      await lvm.vm.run(['sh', '-c', unsend, 'sh', ...names]);
      const activate = ['lvchange', '--activate', 'y', lv(desired)];
      const tried = await lvm.vm.run(activate, { reject: false });
      expect(tried).toMatchObject({
        exitCode: 5,
        stderr: expect.stringContaining('No data available'),
      });
      if (operation === 'provision') {
        const [recorded, link] = await made(desired);
        await lvm.node.write('ext4', link, 'kept');
        await lvm.vm.run(['lvchange', '--activate', 'n', lv(desired), `vg0/${pool}`]);
        expect(await lvm.carry('attach', recorded)).toMatchObject({ link });
        expect(await lvm.node.read('ext4', link)).toBe('kept');
        await lvm.carry('delete', recorded);
      } else {
        expect(await lvm.carry('delete', desired)).toMatchObject({ device: undefined });
      }
      expect(await lvm.node.exists(lv(desired))).toBe(false);
      const next = lvm.desired('ext4', { thinPool: pool });
      await lvm.carry('delete', (await made(next))[0]);
      await lvm.vm.run(['lvremove', '--yes', `vg0/${pool}`]);
    },
    LONG,
  );

  test(
    'a new thin pool that a killed lvcreate left partly active is activated',
    async () => {
      for (let round = 1; ; round++) {
        const pool = `fresh${round}`;
        await lvm.vm.run([
          'lvcreate',
          '--yes',
          '--type',
          'thin-pool',
          '-L',
          '160M',
          '-n',
          pool,
          'vg0',
        ]);
        const kill =
          'lvcreate --name killed -V 64M --thinpool "$1" vg0 & sleep "$2"; kill -9 $!; lvs -a vg0';
        const after = String(0.3 + random());
        const { stdout } = await lvm.vm.run(['sh', '-c', kill, 'sh', pool, after]);
        const stuck =
          new RegExp(`\\[${pool}_tmeta\\] .wi-a`).test(stdout) && !stdout.includes('twi-ao');
        if (stuck || round === 8) {
          process.stderr.write(
            `round ${round}, killed after ${after} s: ${stuck ? 'stuck' : 'never stuck'}\n`,
          );
          const desired = lvm.desired('ext4', { thinPool: pool });
          const [recorded, link] = await made(desired);
          await lvm.node.write('ext4', link, 'kept');
          expect(await lvm.node.read('ext4', link)).toBe('kept');
          // A state that lvcreate may leave, too.
          await lvm.vm.run(['dmsetup', 'suspend', `vg0-${pool}-tpool`]);
          expect(await lvm.carry('attach', recorded)).toMatchObject({ link });
          expect(await lvm.node.read('ext4', link)).toBe('kept');
          // The inner devices of a pool in use cannot be deactivated.
          const away = ['lvchange', '--activate', 'n', `vg0/${pool}_tmeta`];
          expect((await lvm.vm.run(away, { reject: false })).exitCode).not.toBe(0);
          expect(await lvm.node.read('ext4', link)).toBe('kept');
          await lvm.carry('delete', recorded);
          // A late kill leaves the thin volume.
          await lvm.vm.run(['lvremove', '--yes', 'vg0/killed'], { reject: false });
          // Activates the metadata read-only, as an administrator who repairs the pool does.
          await lvm.vm.run(['lvchange', '--activate', 'n', `vg0/${pool}`]);
          await lvm.vm.run(['lvchange', '--yes', '--activate', 'y', `vg0/${pool}_tmeta`]);
          expect(await lvm.carry('provision', lvm.desired('ext4', { thinPool: pool }))).toMatch(
            /the thin pool may be under repair$/,
          );
          await lvm.vm.run(['lvchange', '--activate', 'n', `vg0/${pool}_tmeta`]);
        }
        await lvm.vm.run(
          ['lvchange', '--activate', 'n', `vg0/${pool}_tmeta`, `vg0/${pool}_tdata`],
          {
            reject: false,
          },
        );
        await lvm.vm.run(['lvremove', '--yes', `vg0/${pool}`]);
        if (stuck || round === 8) return;
      }
    },
    2 * LONG,
  );

  describe('a non-root user with the rules of deploy/sudoers', () => {
    const UID = '0b9cbd1c-5e26-4d13-9d6c-7f1f4d0d4b5e';
    const UUID = 'ItrFIE-qKAI-Rv9s-5WHb-2wYv-2dXg-9sKDPj';
    const TAG = `stowage.dev/uid=${UID}`;
    const wipe = ['--wipesignatures', 'y', '--zero', 'y'];
    const ONLY = onlyDisks(['/dev/vdb', '/dev/mapper/mpath.a']);
    const SEE = ['--config', ONLY];
    const THIN = [
      ...SEE,
      '--name',
      'data1',
      '--addtag',
      TAG,
      '--virtualsize',
      '9b',
      '--thinpool',
      'pool',
      'vg0',
    ];
    const CONFIG = ['--config', `allocation{use_blkid_wiping=1}${ONLY}`];
    const THICK = [...CONFIG, '--name', 'data1', '--addtag', TAG, '--extents', '9', ...wipe, 'vg0'];
    const view = {
      words: [
        '--config',
        'devices{global_filter=["a|^/dev/loop7(p[0-9]+)?$|","r|^/dev/loop[0-9]|"]}',
      ],
    };
    const CHOSEN = `lv_uuid=${UUID}&&lv_tags={${TAG}}&&lv_attr=~^[-VrRmMC]...-`;
    const SELECT = [...SEE, '--yes', '--select', CHOSEN];
    const UNFINISHED = `stowage.dev/unfinished=${UID}`;
    const take = (...words: string[]) => scriptArgv('stowage-thin', ...words);
    const identify = (...words: string[]) => scriptArgv('stowage-lvm-uuid', ...words);

    beforeAll(async () => {
      await lvm.vm.run(['useradd', '--system', 'stowage']);
      const rules = await readFile('deploy/sudoers', 'utf8');
      await lvm.vm.run(['sh', '-c', 'umask 0337; cat >/etc/sudoers.d/stowage'], { input: rules });
      await lvm.vm.run(['visudo', '-c']);
    }, LONG);

    const may = async (argv: readonly string[]) =>
      (await lvm.vm.run(['sudo', '-U', 'stowage', '-l', '--', ...argv], { reject: false }))
        .exitCode === 0;

    test(
      'may run the commands that Stowage uses',
      async () => {
        const allowed = [
          ['lvcreate', ...THICK],
          ['lvcreate', '--yes', ...THICK, '/dev/vdb:10-265', '/dev/mapper/mpatha:0-9'],
          ['lvcreate', ...THIN],
          ['lvmconfig', 'devices/filter', 'devices/global_filter'],
          ['vgs', ...SEE, '--noheadings', '-o', 'vg_uuid', 'vg0'],
          [
            'lvs',
            '--noheadings',
            '-o',
            'lv_tags',
            '--select',
            'lv_kernel_major=253&&lv_kernel_minor=3',
          ],
          ...[view, { words: [] }].flatMap((each) =>
            [...groupProbes(each), volumesProbe(each, 'vg0'), segmentsProbe(each)].map(
              ({ argv }) => argv,
            ),
          ),
          ['lsblk', '--raw', '-n', '-d', '-o', 'NAME,TYPE', '/dev/vg0/data1'],
          ['lvremove', ...SELECT, 'vg0/data1.a-b'],
          ['lvchange', ...SEE, '--activate', 'y', '--ignoreactivationskip', 'vg0/data1'],
          ['lvextend', ...SEE, '--extents', '512', 'vg0/data1', '/dev/vdb:10-265'],
          take(ONLY, 'vg0/data1', UID, `snap-${UID}`, UID, 'r'),
          identify(ONLY, 'vg0/data1', UID),
          identify(ONLY, 'vg0/data1', UID, 'leave'),
          [
            'lvchange',
            ...SEE,
            '--setactivationskip',
            'n',
            '--deltag',
            UNFINISHED,
            '--addtag',
            TAG,
            'vg0/data1',
          ],
          [
            'lvremove',
            ...SEE,
            '--yes',
            '--select',
            CHOSEN.replace(TAG, UNFINISHED),
            `vg0/snap-${UID}`,
          ],
        ];
        for (const argv of allowed) expect([argv, await may(argv)]).toEqual([argv, true]);
      },
      LONG,
    );

    test(
      'may not run other LVM commands',
      async () => {
        const refused = [
          ['lvcreate', '--yes', '--name', 'a', '--extents', '9', 'vg0'],
          ['lvcreate', ...THICK, '-y'],
          ['lvcreate', '--yes', ...THICK],
          ['lvcreate', ...THICK.slice(CONFIG.length)],
          ['lvcreate', ...THICK, '/etc/shadow'],
          ['lvcreate', ...THICK.with(-1, 'vg1')],
          ['lvcreate', ...THICK.with(-1, '--config=x')],
          ['lvcreate', '--snapshot', '--name', 'a', 'vg0/data1'],
          take(ONLY, 'vg1/data1', UID, `snap-${UID}`, UID, 'r'),
          otherScript('stowage-thin', 'id', ONLY, 'vg0/data1', UID, `snap-${UID}`, UID, 'r'),
          identify(ONLY, '/dev/sda', UID),
          ['lvchange', ...SEE, '--deltag', TAG, '--addtag', UNFINISHED, 'vg0/data1'],
          ['lvremove', ...SEE, 'vg0/data1'],
          ['lvremove', ...SELECT.slice(SEE.length), 'vg0/data1'],
          [
            'lvremove',
            '--config',
            'devices{filter=["a|.*|"]}',
            ...SELECT.slice(SEE.length),
            'vg0/data1',
          ],
          ['lvcreate', '--config', 'allocation{use_blkid_wiping=1}', ...THICK.slice(CONFIG.length)],
          identify('vg0/data1', UID),
          ['lvremove', '--yes', 'vg0'],
          ['lvremove', '--select', `lv_uuid=${UUID}`, 'vg0/data1'],
          ['lvremove', '--select', `lv_uuid=${UUID}||lv_tags={${TAG}}`, 'vg0/data1'],
          ['lvremove', ...SELECT, 'vg1/data1'],
          ['lvremove', ...SELECT, 'vg0/data1', 'vg0/data2'],
          ['lvremove', '--yes', '--select', `lv_uuid=${UUID}&&lv_tags={${TAG}}`, 'vg0/data1'],
          ['lvchange', ...SEE, '--activate', 'n', 'vg1/root'],
          ['lvchange', ...SEE, '--permission', 'rw', 'vg0/data1'],
          ['lvchange', ...SEE, '--addtag', 'mine', 'vg0/data1'],
          ['lvextend', ...SEE, '--extents', '+100%FREE', 'vg0/data1'],
          ['lvextend', ...SEE, '--resizefs', '--extents', '9', 'vg0/data1'],
          ['lvreduce', '--extents', '9', 'vg0/data1'],
          ['lvconvert', '--merge', 'vg0/data1'],
          ['lvs', '--config', 'x', '--noheadings', '-o', 'lv_uuid', 'vg0/data1'],
          ['vgs', '--config', 'x'],
          ['vgremove', 'vg0'],
          ['pvcreate', '/dev/sda'],
        ];
        for (const argv of refused) expect([argv, await may(argv)]).toEqual([argv, false]);
      },
      LONG,
    );
  });
});
