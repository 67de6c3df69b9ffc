import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { VOLUMES } from '../../../src/api/resources.ts';
import { BACKINGS, type Backing, CONTENTS, type Content } from '../../support/kinds.ts';
import { seeded } from '../../support/random.ts';
import { until } from '../../support/until.ts';
import { CONVERGES_WITHIN, type Scene, startScene } from './scene.ts';

/** How many power cuts and reboots; `npm run test:faults` sets more. */
const COUNT = Number(process.env.STOWAGE_POWER_CUTS ?? 2);

/** Of their moments. Printed; the same one makes the same moments. */
const SEED = Number(process.env.STOWAGE_FAULTS_SEED ?? Date.now() % 2 ** 32);

/** Up to how many ms after something was asked for: about as long as it takes here. */
const SPAN = { create: 6000, grow: 4000, wipe: 10_000, delete: 4000 };
type During = keyof typeof SPAN;

interface Point {
  backing: Backing;
  content: Content;
  during: During;
  how: 'power cut' | 'reboot';
  /** ms */
  after: number;
}

let scene: Scene;

beforeAll(async () => {
  scene = await startScene();
  await scene.create('bystander', 'sparse file', 'ext4');
  const { status } = await scene.ready('bystander', 'True');
  await scene.node.write('ext4', status?.devicePath ?? '', 'synced before');
}, 900_000);
afterAll(() => scene?.stop(), 60_000);

const toldOf = (work: () => Promise<void>) => () => scene.told(work)();

test(
  `${COUNT} power cuts and reboots at random moments`,
  toldOf(async () => {
    console.info(`${COUNT} moments: STOWAGE_FAULTS_SEED=${SEED} STOWAGE_POWER_CUTS=${COUNT}`);
    const random = seeded(SEED);
    for (let number = 1; number <= COUNT; number++) {
      const point = pointOf(number, random);
      const { backing, content, during, how, after } = point;
      const where = `${how} ${after} ms into ${during} of a ${backing} with ${content}`;
      try {
        const stood = await live(`v${number}`, point);
        console.info(`${number}: ${where}: ${stood}`);
      } catch (cause) {
        const message = `seed ${SEED}, moment ${number}: ${where}: ${(cause as Error).message}`;
        throw new Error(message, { cause });
      }
    }
  }),
  COUNT * 6 * CONVERGES_WITHIN,
);

/** They take turns in what is interrupted, so that a few have met all of it. */
function pointOf(number: number, random: () => number): Point {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const during = (['create', 'wipe', 'grow', 'delete'] as const)[(number - 1) % 4] as During;
  return {
    during,
    backing: during === 'grow' ? 'sparse file' : pick(BACKINGS),
    content: pick(CONTENTS),
    how: pick(['power cut', 'power cut', 'reboot']),
    after: Math.floor(random() * SPAN[during]),
  };
}

/** A whole life of a volume with one fault in it. @returns where the work stood then, and how long it took to go on */
async function live(name: string, { backing, content, during, how, after }: Point): Promise<string> {
  const { vm, node, cluster } = scene;
  let stood = '';

  async function faultIn(what: During): Promise<void> {
    if (what !== during) return;
    await sleep(after);
    const volume = await scene.get(name).catch(() => undefined);
    stood = volume === undefined ? 'it was done' : `it was at ${volume.status?.job}`;
    if (how === 'reboot') await vm.reboot();
    else {
      await vm.powerCut();
      await vm.boot();
    }
    const began = Date.now();
    const { status } = await scene.ready('bystander', 'True');
    const path = status?.devicePath ?? '';
    await until('the bystander is on its path', CONVERGES_WITHIN, async () =>
      (await node.exists(path)) ? true : undefined,
    );
    expect(await node.read('ext4', path)).toBe('synced before');
    stood += `; another volume was back ${Math.round((Date.now() - began) / 1000)} s after the boot`;
  }

  const onDelete = during === 'wipe' ? 'Wipe' : 'Delete';
  const { metadata } = await scene.create(name, backing, content, { onDelete });
  const { uid = '' } = metadata;
  await faultIn('create');
  const { status } = await scene.ready(name, 'True');
  const path = status?.devicePath ?? '';
  await node.write(content, path, `data of ${name}`);

  if (during === 'grow') {
    await scene.patch(name, { sparseLoopDevice: { size: '608Mi' } });
    await faultIn('grow');
    await until(`${name} has grown`, CONVERGES_WITHIN, async () =>
      (await scene.pv(name)).spec.capacity.storage === '608Mi' ? true : undefined,
    );
    await scene.ready(name, 'True');
    expect(await node.read(content, path)).toBe(`data of ${name}`);
  }

  const began = Date.now();
  await cluster.client.delete(VOLUMES, name);
  await faultIn(during === 'wipe' ? 'wipe' : 'delete');
  await scene.gone(name);
  stood += `; gone ${Math.round((Date.now() - began) / 1000)} s after it was deleted`;
  expect(await node.tracesOf(uid)).toEqual([]);
  const device = scene.deviceFor(backing);
  if (device !== undefined && during === 'wipe') {
    const { stdout: size } = await vm.run(['blockdev', '--getsize64', device]);
    await vm.run(['cmp', `--bytes=${size}`, device, '/dev/zero']);
  }
  const failed = (await scene.watch.statuses()).filter(({ phase }) => phase === 'Failed');
  expect(failed).toEqual([]);
  return stood;
}
