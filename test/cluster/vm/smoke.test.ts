import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { liveThrough } from './moments.ts';
import { back, kept, type Resident, settle } from './residents.ts';
import { CONVERGES_WITHIN, readyOf, type Scene, startScene } from './scene.ts';

let scene: Scene;
let residents: Resident[] = [];

beforeAll(async () => {
  scene = await startScene();
}, 1_800_000);
afterAll(() => scene?.stop());

test(
  'a sparse file, a disk and a partition become volumes, and are written',
  () =>
    scene.told(async () => {
      residents = await settle(scene, {
        file: ['sparse file', 'ext4'],
        disk: ['disk', 'xfs'],
        partition: ['partition', 'Block'],
      });
      await kept(scene, residents);
    }),
  3 * CONVERGES_WITHIN,
);

test(
  'Volumes have their paths and data again after a reboot that the kubelet reports',
  () =>
    scene.told(async () => {
      await scene.kubeletStarts();
      await scene.vm.reboot();
      const began = Date.now();
      await scene.kubeletStarts();
      console.info(
        `on their paths after the kubelet told of the boot: ${await back(scene, residents, began)}`,
      );
      await kept(scene, residents);
    }),
  3 * CONVERGES_WITHIN,
);

test(
  'Volumes survive power cuts during operations',
  () => scene.told(() => liveThrough(scene, residents, 2)),
  12 * CONVERGES_WITHIN,
);

test(
  'a Volume whose disk is unplugged is Ready=False, and keeps its data',
  () =>
    scene.told(async () => {
      const disk = scene.vm.disk('first');
      await scene.vm.unplug('first');
      expect(readyOf(await scene.ready('disk', 'False'))).toMatchObject({
        reason: 'UnavailableError',
        message: expect.stringContaining(disk),
      });
      await scene.vm.plug('first');
      await kept(scene, residents);
    }),
  3 * CONVERGES_WITHIN,
);
