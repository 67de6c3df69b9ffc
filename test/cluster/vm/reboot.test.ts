import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { back, kept, type Resident, settle } from './residents.ts';
import { CONVERGES_WITHIN, readyOf, type Scene, startScene } from './scene.ts';

let scene: Scene;
let residents: Resident[] = [];

beforeAll(async () => {
  scene = await startScene();
  await scene.told(async () => {
    // A file, which is attached again, and a disk, whose link is created again.
    residents = await settle(scene, { file: ['sparse file', 'ext4'], disk: ['disk', 'xfs'] });
  });
}, 1_800_000);
afterAll(() => scene?.stop());

test(
  'Volumes have their paths and data again after a reboot that no kubelet reports',
  () =>
    scene.told(async () => {
      await scene.vm.reboot();
      console.info(
        `on their paths after sshd answered, by the daemon's own looks: ${await back(scene, residents)}`,
      );
      await kept(scene, residents);
    }),
  3 * CONVERGES_WITHIN,
);

test(
  'Volumes of a node without power are Ready=Unknown, and recover by themselves',
  () =>
    scene.told(async () => {
      const began = Date.now();
      await scene.vm.powerCut();
      for (const { name } of residents) {
        const volume = await scene.ready(name, 'Unknown');
        expect(volume.status?.phase).toBe('Available');
        expect(readyOf(volume)).toMatchObject({
          reason: 'NodeUnreachable',
          message: expect.stringMatching(/^node vm1 is unreachable over ssh: /),
        });
      }
      console.info(
        `all Ready=Unknown ${Math.round((Date.now() - began) / 1000)} s after the power cut`,
      );
      await scene.vm.boot();
      console.info(`on their paths after sshd answered: ${await back(scene, residents)}`);
      await kept(scene, residents);
      await scene.noneFailed();
    }),
  4 * CONVERGES_WITHIN,
);

test(
  'a Volume whose disk is unplugged stays Ready=False over a power cut, and keeps its data',
  () =>
    scene.told(async () => {
      const { vm } = scene;
      await vm.unplug('first');
      await scene.ready('disk', 'False');
      await vm.powerCut();
      await vm.boot();
      await scene.ready('file', 'True');
      expect(readyOf(await scene.ready('disk', 'False'))).toMatchObject({
        reason: 'UnavailableError',
        message: expect.stringContaining(vm.disk('first')),
      });
      await vm.plug('first');
      await kept(scene, residents);
    }),
  6 * CONVERGES_WITHIN,
);
