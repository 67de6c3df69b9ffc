import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { PersistentVolume } from '../../../src/api/core.ts';
import { PERSISTENT_VOLUMES } from '../../../src/api/resources.ts';
import type { Volume, VolumeMode } from '../../../src/api/volume.ts';
import { until } from '../../support/until.ts';
import { type Mounted, podsOf } from '../kubelet/pods.ts';
import type { Scene } from '../kubelet/scene.ts';
import { readyOf, volumesOf } from '../kubelet/volumes.ts';
import { placesIn, startScene, type VmMachine, withLogs } from './kubelet-scene.ts';
import type { Kind } from './places.ts';
import { CONVERGES_WITHIN } from './scene.ts';
import { bootOf, createStaying, outputIn, readAll } from './staying-pod.ts';

/** Last version whose volumes have paths by UUID. */
const PREVIOUS = '535f9e2';

const CASES: readonly (readonly [Kind, VolumeMode])[] = [
  ['sparse file', 'Filesystem'],
  ['sparse file', 'Block'],
  ['disk', 'Filesystem'],
  ['disk', 'Block'],
  ['partition', 'Filesystem'],
  ['logical volume', 'Filesystem'],
  ['logical volume', 'Block'],
  ['thin volume', 'Filesystem'],
];

let scene: Scene<VmMachine>;
let pods: ReturnType<typeof podsOf>;
let volumes: ReturnType<typeof volumesOf<Kind>>;
const all: Mounted[] = [];
const made: { volume: Volume; path: string }[] = [];

beforeAll(async () => {
  const { stdout } = await execa('node', ['scripts/build-previous.mjs', PREVIOUS]);
  scene = await startScene({ daemon: `${stdout}/bin/stowage` });
  pods = podsOf(scene.client, undefined, CONVERGES_WITHIN);
  volumes = volumesOf(scene, placesIn(scene), CONVERGES_WITHIN);
}, 1_800_000);
afterAll(() => scene?.stop());

/** Waits until it is Ready. @returns the path in its PersistentVolume */
async function pathOf(name: string): Promise<string> {
  await until(
    `Volume ${name} Ready`,
    async () => {
      return readyOf(await volumes.get(name))?.status === 'True' || undefined;
    },
    CONVERGES_WITHIN,
  );
  const { spec } = await scene.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
  return spec.local?.path ?? '';
}

const keepTheirPaths = async () => {
  for (const { volume, path } of made) expect(await pathOf(volume.metadata.name)).toBe(path);
};

test(
  'Volumes of the previous version stay in use while the daemon is upgraded',
  () =>
    withLogs(scene, async () => {
      const { vm } = scene.machine;
      for (const [kind, mode] of CASES) {
        const volume = await volumes.create(kind, mode);
        const { name } = volume.metadata;
        all.push(await pods.claim(name, name, mode));
        made.push({ volume, path: await pathOf(name) });
      }
      expect(made.map(({ path }) => path).filter((path) => path.includes('/stowage-'))).toEqual([]);
      await createStaying(pods, 'stays', all);
      const boot = await bootOf(vm);
      expect(await outputIn(vm, 'stays', boot)).toEqual(all.map(({ claim }) => `${claim} `));
      await scene.watch([]);
      await keepTheirPaths();
    }),
  4 * CONVERGES_WITHIN,
);

test(
  'a pod with a Block volume cannot take over the path of an existing Volume',
  () =>
    withLogs(scene, async () => {
      const { vm } = scene.machine;
      const leadsTo = async (path: string) => (await vm.run(['realpath', path])).stdout;
      const { name, uid = '' } = (await volumes.create('sparse file', 'Block')).metadata;
      const forger = await pods.claim(name, name, 'Block');
      await pathOf(name);
      await pods.create('forges', [forger], 'sleep infinity');
      await pods.inPhase('forges', 'Running');
      // The kubelet creates its own loop device over the volume's, which also shows the pod's data.
      const loops = (
        await vm.run(['losetup', '--list', '--noheadings', '--output', 'NAME,BACK-FILE'])
      ).stdout;
      console.info(loops);
      const theirs = (await vm.run(['realpath', `/dev/disk/by-id/stowage-${uid}`])).stdout;
      for (const { path } of made.filter(({ path }) => path.includes('/by-uuid/'))) {
        const before = await leadsTo(path);
        await vm.run(['mkfs.ext4', '-q', '-F', '-U', path.split('/').at(-1) ?? '', theirs]);
        for (const line of loops.split('\n')) {
          await vm.run([
            'udevadm',
            'trigger',
            '--settle',
            '--action=change',
            line.split(' ')[0] ?? '',
          ]);
        }
        expect([path, await leadsTo(path)]).toEqual([path, before]);
      }
      await pods.remove('forges');
      await pods.unclaim(name);
      await volumes.remove(name);
    }),
  4 * CONVERGES_WITHIN,
);

test(
  'the next pod reads the data at the old paths',
  () =>
    withLogs(scene, async () => {
      const boot = await bootOf(scene.machine.vm);
      await pods.remove('stays');
      const found = (await pods.run('reads', all, readAll(all))).trimEnd().split('\n');
      expect(found).toEqual(all.map(({ claim }) => `${claim} ${boot}`));
      await keepTheirPaths();
    }),
  4 * CONVERGES_WITHIN,
);

test(
  'a pod reads the data at the old paths after a reboot',
  () =>
    withLogs(scene, async () => {
      const { vm } = scene.machine;
      await createStaying(pods, 'again', all);
      const before = await bootOf(vm);
      await outputIn(vm, 'again', before);
      await vm.reboot();
      const after = await bootOf(vm);
      expect(await outputIn(vm, 'again', after)).toEqual(
        all.map(({ claim }) => `${claim} ${before}`),
      );
      await keepTheirPaths();
      for (const { path } of made) {
        expect((await vm.run(['test', '-b', path], { reject: false })).exitCode).toBe(0);
      }
    }),
  4 * CONVERGES_WITHIN,
);

test(
  'deleted Volumes of the previous version leave nothing behind',
  () =>
    withLogs(scene, async () => {
      await pods.remove('again');
      for (const { volume } of made) {
        await pods.unclaim(volume.metadata.name);
        await volumes.remove(volume.metadata.name);
        await volumes.expectNothing(volume);
      }
    }),
  4 * CONVERGES_WITHIN,
);
