import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BACKINGS, CONTENTS } from '../../support/kinds.ts';
import { until } from '../../support/until.ts';
import { CONVERGES_WITHIN, type Scene, startScene } from './scene.ts';

const MIB = 1n << 20n;

let scene: Scene;
let count = 0;

beforeAll(async () => {
  scene = await startScene();
}, 900_000);
afterAll(() => scene?.stop(), 60_000);

const told = (work: () => Promise<void>) => async () => scene.told(work)();

const kinds = BACKINGS.flatMap((backing) => CONTENTS.map((content) => [backing, content] as const));
test.each(kinds)(
  'a %s with %s: made, written, grown, read, deleted',
  (backing, content) =>
    told(async () => {
      const { vm, node, stowage } = scene;
      const name = `v${++count}`;
      const device = scene.deviceFor(backing);
      const made = await stowage(
        ...['create', 'volume', name, '--node', vm.name, '--on-delete', 'Delete'],
        ...(content === 'Block' ? ['--mode', 'Block'] : []),
        ...['--storage-class', content === 'xfs' ? 'local-xfs' : 'local'],
        ...(device === undefined ? ['--size', '304Mi'] : ['--device', device]),
        ...['--wait', '--timeout', '120s'],
      );
      expect([made.exitCode, made.stderr]).toEqual([0, expect.any(String)]);
      const { metadata, status } = await scene.get(name);
      const { uid = '' } = metadata;
      const link = `/dev/disk/by-${content === 'Block' ? 'partuuid' : 'uuid'}/${uid}`;
      expect(status).toMatchObject({ phase: 'Available', devicePath: link });
      const { stdout: leadsTo } = await vm.run(['realpath', link]);
      expect(leadsTo).toBe(`/dev/${status?.deviceName}`);

      await node.write(content, link, 'kept');
      if (device === undefined) {
        const mounted = content === 'Block' ? undefined : await node.mount(link, name);
        await scene.patch(name, { sparseLoopDevice: { size: '608Mi' } });
        await until(`${name} has grown`, CONVERGES_WITHIN, async () =>
          (await scene.pv(name)).spec.capacity.storage === '608Mi' ? true : undefined,
        );
        const { stdout: bytes } = await vm.run(['blockdev', '--getsize64', link]);
        expect(BigInt(bytes)).toBe(608n * MIB);
        if (mounted !== undefined) {
          const { stdout } = await vm.run(['findmnt', '-bnro', 'SIZE', mounted]);
          expect(BigInt(stdout)).toBeGreaterThan(500n * MIB);
          await vm.run(['umount', mounted]);
        }
      }
      expect(await node.read(content, link)).toBe('kept');

      const deleted = await stowage('delete', 'volume', name, '--yes', '--wait', '--timeout', '120s');
      expect([deleted.exitCode, deleted.stderr]).toEqual([0, expect.any(String)]);
      expect(await node.tracesOf(uid)).toEqual([]);
    })(),
  2 * CONVERGES_WITHIN,
);
