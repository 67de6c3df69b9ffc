import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { VOLUMES } from '../../../src/api/resources.ts';
import { CONTENTS, type Content } from '../../support/kinds.ts';
import { seeded } from '../../support/random.ts';
import { KINDS, type Kind } from './places.ts';
import { back, keepWriting, kept, type Resident } from './residents.ts';
import type { Scene } from './scene.ts';

/** Maximum delay (ms) of a fault after a request: about the time that the operation takes here. */
const SPAN = { create: 6000, grow: 6000, wipe: 8000, delete: 4000 };
type During = keyof typeof SPAN;

const GROWING: readonly Kind[] = ['sparse file', 'logical volume', 'thin volume'];

/** The fault in the life of a volume: its node loses its power or reboots. */
interface Moment {
  kind: Kind;
  content: Content;
  during: During;
  how: 'power cut' | 'reboot';
  /** Delay in ms. */
  after: number;
}

/** Seed of the moments, to reproduce them. */
const SEED = Number(process.env.STOWAGE_FAULTS_SEED ?? Date.now() % 2 ** 32);

/**
 * Runs the lives of volumes, each with its own moment. Prints the seed, and the progress of each at
 * the fault.
 */
export async function liveThrough(
  scene: Scene,
  residents: readonly Resident[],
  count: number,
): Promise<void> {
  console.info(`${count} moments: STOWAGE_FAULTS_SEED=${SEED}`);
  const random = seeded(SEED);
  for (let number = 1; number <= count; number++) {
    const moment = momentOf(number, random);
    const { kind, content, during, how, after } = moment;
    const where = `${number}: ${how} ${after} ms into ${during} of a ${kind} with ${content}`;
    try {
      console.info(`${where}: ${await live(scene, residents, `v${number}`, moment)}`);
    } catch (cause) {
      throw new Error(`seed ${SEED}, moment ${where}: ${(cause as Error).message}`, { cause });
    }
  }
}

/**
 * Picks a moment. The interrupted operations take turns, so that a few moments cover all. The seed
 * selects the first.
 */
function momentOf(number: number, random: () => number): Moment {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const turns: readonly During[] = ['create', 'grow', 'wipe', 'delete'];
  const during = turns[(SEED + number) % turns.length] as During;
  const kind = pick(during === 'grow' ? GROWING : KINDS);
  return {
    during,
    kind,
    // Headers that a grown XFS leaves prevent later logical volumes from growing into these
    // extents.
    content: pick(
      kind === 'logical volume' ? CONTENTS.filter((content) => content !== 'xfs') : CONTENTS,
    ),
    // The clean shutdown of a reboot is the easier case.
    how: number > 2 ? pick(['power cut', 'power cut', 'reboot']) : 'power cut',
    after: Math.floor(random() * SPAN[during]),
  };
}

/**
 * Runs a whole life of a volume with one fault.
 * @returns the progress at the fault, and the time until it continued
 */
async function live(
  scene: Scene,
  residents: readonly Resident[],
  name: string,
  moment: Moment,
): Promise<string> {
  const { kind, content, during } = moment;
  const { node, vm } = scene;
  const stood: string[] = [];
  const place = scene.placeOf(kind, 'second');
  const fault = async (what: During) => {
    if (what === during) stood.push(await happen(scene, residents, name, moment));
  };

  const written = await keepWriting(scene, residents);
  const onDelete = during === 'wipe' ? 'Wipe' : 'Delete';
  const { metadata } = await scene.create(name, place, content, { onDelete });
  const { uid = '' } = metadata;
  await fault('create');
  const { status } = await scene.ready(name, 'True');
  const path = status?.devicePath ?? '';
  // Ready may predate the fault.
  await back(scene, [{ name, path }]);
  await node.write(content, path, `data of ${name}`);

  if (during === 'grow') {
    // In use meanwhile, as by a pod.
    const writer = content === 'Block' ? undefined : node.startWriter(await node.mount(path, name));
    await scene.grow(name);
    await fault('grow');
    const synced = await writer?.ended();
    await scene.grown(name);
    await scene.ready(name, 'True');
    await back(scene, [{ name, path }]);
    expect(await node.read(content, path)).toBe(`data of ${name}`);
    if (synced !== undefined) expect(await node.numbersOn(path)).toBeGreaterThanOrEqual(synced);
    stood.push(`${synced ?? 'no'} numbers were synced on it`);
  }

  const began = Date.now();
  await scene.cluster.client.delete(VOLUMES, name);
  await fault(during === 'wipe' ? 'wipe' : 'delete');
  await scene.gone(name);
  stood.push(`gone ${Math.round((Date.now() - began) / 1000)} s after it was deleted`);
  expect(await scene.tracesOf(uid)).toEqual([]);
  const device = place.rawBlockDevice?.devicePath;
  if (device !== undefined && during === 'wipe') {
    const { stdout: size } = await vm.run(['blockdev', '--getsize64', device]);
    await vm.run(['cmp', `--bytes=${size}`, device, '/dev/zero']);
  }
  await written();
  await scene.noneFailed();
  return stood.join('; ');
}

/** Causes the fault, and checks that all data that programs synced before remains. */
async function happen(
  scene: Scene,
  residents: readonly Resident[],
  name: string,
  { how, after }: Moment,
): Promise<string> {
  await sleep(after);
  const volume = await scene.get(name).catch(() => undefined);
  const stood = volume === undefined ? 'it was done' : `it was at ${volume.status?.job}`;
  if (how === 'reboot') await scene.vm.reboot();
  else {
    await scene.vm.powerCut();
    await scene.vm.boot();
  }
  await scene.kubeletStarts();
  const took = await back(scene, residents);
  await kept(scene, residents);
  return `${stood}; on their paths after the boot: ${took}`;
}
