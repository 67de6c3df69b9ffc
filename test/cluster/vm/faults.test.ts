import { afterAll, beforeAll, test } from '@jest/globals';
import { liveThrough } from './moments.ts';
import { type Resident, settle } from './residents.ts';
import { CONVERGES_WITHIN, type Scene, startScene } from './scene.ts';

/** Number of power cuts and reboots. `npm run test:faults` sets a larger one. */
const COUNT = Number(process.env.STOWAGE_POWER_CUTS ?? 4);

let scene: Scene;
let residents: Resident[] = [];

beforeAll(async () => {
  scene = await startScene();
  await scene.told(async () => {
    residents = await settle(scene, { file: ['sparse file', 'ext4'], disk: ['disk', 'xfs'] });
  });
}, 1_800_000);
afterAll(() => scene?.stop());

test(
  `Volumes survive ${COUNT} power cuts and reboots at random moments`,
  () => scene.told(() => liveThrough(scene, residents, COUNT)),
  COUNT * 6 * CONVERGES_WITHIN,
);
