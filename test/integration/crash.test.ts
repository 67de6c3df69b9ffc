import { afterAll, beforeAll, test } from '@jest/globals';
import { type CrashingCluster, type Run, startCrashingCluster } from '../support/crash-life.ts';
import { seedOf } from '../support/random.ts';
import { describeAsRoot } from '../support/root.ts';

/** All that a step or a guard calls. */
const PROGRAMS = [
  ...['mkfs.ext4', 'losetup', 'dd', 'mv', 'sync', 'truncate', 'rm', 'install', 'mkdir', 'udevadm'],
  ...['test', 'blkid', 'find'],
];

/** `npm run test:faults` has the time for all; each effect and each program is after the one before. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const AT = MANY ? (['before', 'after'] as const) : (['after'] as const);
const EACH = MANY ? 1 : 12;
const STEP = MANY ? 1 : 4;

/** The first of every fourth effect, every second call and every twelfth program follows from it. */
const SEED = seedOf();

describeAsRoot('a volume from create to delete, killed at every boundary', () => {
  let crashing: CrashingCluster;

  beforeAll(async () => {
    crashing = await startCrashingCluster(PROGRAMS);
  });
  afterAll(() => crashing?.stop());

  const live = (run: Run) => crashing.live(run);
  const callsSoFar = () => crashing.wrappers.calls();

  test(`the daemon, ${AT.join(' and ')} every ${MANY ? '' : 'fourth '}effect`, async () => {
    const effects = await live({});
    for (const when of AT) {
      for (let effect = 1 + (SEED % STEP); effect <= effects.length; effect += STEP) {
        await live({ effect, when });
      }
    }
    console.info(
      `the daemon was killed at every ${MANY ? '' : 'fourth '}effect (seed ${SEED}) of ${effects.length}, ${AT.join(' and ')}: ${effects.join(' ')}`,
    );
  }, 900_000);

  test(`the connection, ${MANY ? 'before and in every' : 'in every second'} call to the node`, async () => {
    const effects = await live({});
    const calls = effects.flatMap((name, index) => (name.startsWith('node.') ? [index + 1] : []));
    for (const when of AT) {
      for (let at = MANY ? 0 : SEED % 2; at < calls.length; at += MANY ? 1 : 2) {
        await live({ effect: calls[at] as number, when, cut: true });
      }
    }
    const where = MANY ? `${calls.length} calls` : `every second of ${calls.length} calls (seed ${SEED})`;
    console.info(`the connection was killed at ${where}, ${AT.join(' and ')}`);
  }, 900_000);

  test(`the job, ${AT.join(' and ')} every ${MANY ? '' : 'twelfth '}program that it runs`, async () => {
    const start = (await callsSoFar()).length;
    await live({});
    const calls = (await callsSoFar()).slice(start);
    // Observations call some of these programs, too: to kill the shell of one of them is a case of its own.
    for (const at of AT) {
      for (let call = 1 + (SEED % EACH); call <= calls.length; call += EACH) {
        await live({ job: { during: 'create', crash: { program: '*', call, at } } });
      }
    }
    const where = MANY
      ? `${calls.length} programs`
      : `every twelfth of ${calls.length} programs (seed ${SEED})`;
    console.info(`the job was killed at ${where}, ${AT.join(' and ')} each`);
  }, 900_000);

  test('the job, inside mkfs', async () => {
    for (const ms of MANY ? [0, 1, 2, 4, 8, 16, 32] : [0, 4, 32]) {
      await live({
        size: '200Gi',
        job: { during: 'create', crash: { program: 'mkfs.ext4', call: 1, at: 'inside', ms } },
      });
    }
  }, 300_000);
});
