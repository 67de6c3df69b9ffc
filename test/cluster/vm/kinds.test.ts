import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CONTENTS } from '../../support/kinds.ts';
import { KINDS, SIZE } from './places.ts';
import { CONVERGES_WITHIN, type Scene, startScene } from './scene.ts';

const MIB = 1n << 20n;

let scene: Scene;
let count = 0;

beforeAll(async () => {
  scene = await startScene();
}, 1_800_000);
afterAll(() => scene?.stop());

// xfs last: headers that a grown XFS leaves prevent later logical volumes from growing into these
// extents.
const contents = [...CONTENTS.filter((content) => content !== 'xfs'), 'xfs' as const];
const kinds = KINDS.flatMap((kind) => contents.map((content) => [kind, content] as const));
test.each(kinds)(
  'a %s with %s is provisioned, written, expanded, read and deleted',
  (kind, content) =>
    scene.told(async () => {
      const { vm, node, stowage } = scene;
      const name = `v${++count}`;
      const { rawBlockDevice, lvmLogicalVolume: lvm } = scene.placeOf(kind);
      const made = await stowage(
        ...['create', 'volume', name, '--node', vm.name, '--on-delete', 'Delete'],
        ...(content === 'Block' ? ['--mode', 'Block'] : []),
        ...['--storage-class', content === 'xfs' ? 'local-xfs' : 'local'],
        ...(rawBlockDevice === undefined
          ? ['--size', SIZE]
          : ['--device', rawBlockDevice.devicePath]),
        ...(lvm === undefined ? [] : ['--vg', lvm.vgName]),
        ...(lvm?.thinPool === undefined ? [] : ['--thin-pool', lvm.thinPool]),
        ...['--wait', '--timeout', '10m'],
      );
      expect([made.exitCode, made.stderr]).toEqual([0, expect.any(String)]);
      const { metadata, status } = await scene.get(name);
      const { uid = '' } = metadata;
      const link = status?.devicePath ?? '';
      expect(link).toBe(`/dev/disk/by-id/stowage-${uid}`);
      expect(status?.phase).toBe('Available');
      const { stdout: leadsTo } = await vm.run(['realpath', link]);
      expect(leadsTo).toBe(`/dev/${status?.deviceName}`);

      await node.write(content, link, 'kept');
      if (rawBlockDevice === undefined) {
        const mounted = content === 'Block' ? undefined : await node.mount(link, name);
        await scene.grow(name);
        await scene.grown(name);
        const { stdout: bytes } = await vm.run(['blockdev', '--getsize64', link]);
        expect(BigInt(bytes)).toBe(608n * MIB);
        if (mounted !== undefined) {
          const { stdout } = await vm.run(['findmnt', '-bnro', 'SIZE', mounted]);
          expect(BigInt(stdout)).toBeGreaterThan(500n * MIB);
          await vm.run(['umount', mounted]);
        }
      }
      expect(await node.read(content, link)).toBe('kept');

      const deleted = await stowage(
        'delete',
        'volume',
        name,
        '--yes',
        '--wait',
        '--timeout',
        '10m',
      );
      expect([deleted.exitCode, deleted.stderr]).toEqual([0, expect.any(String)]);
      expect(await scene.tracesOf(uid)).toEqual([]);
      // Data that remains on the disk would require consent.
      if (rawBlockDevice !== undefined)
        await vm.run(['blkdiscard', '-f', '-z', rawBlockDevice.devicePath]);
    }),
  2 * CONVERGES_WITHIN,
);
