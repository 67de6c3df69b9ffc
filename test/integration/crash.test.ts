import { afterAll, beforeAll, test } from '@jest/globals';
import { type CrashingCluster, type Run, startCrashingCluster } from '../support/crash-life.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { seeded, seedOf } from '../support/random.ts';
import { describeAsRoot } from '../support/root.ts';

/** Programs that steps and preconditions call. */
const PROGRAMS = [
  ...['mkfs.ext4', 'losetup', 'dd', 'mv', 'sync', 'truncate', 'rm', 'install', 'mkdir', 'udevadm'],
  ...['test', 'blkid', 'find'],
];

/**
 * Distances between the tested effects of the daemon, calls to the node and programs of a job, and
 * delays (ms) of kills inside mkfs. STOWAGE_FAULTS tests all of them.
 */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
/** Ends only a test that hangs, in ms. */
const WITHIN = MANY ? 3_600_000 : 900_000;
const EACH = MANY
  ? { effect: 1, call: 1, program: 1, mkfs: [0, 1, 2, 4, 8, 16, 32] }
  : EVERY_CASE
    ? { effect: 4, call: 2, program: 12, mkfs: [0, 4, 32] }
    : { effect: 12, call: 6, program: 48, mkfs: [4] };
const AT = MANY ? (['before', 'after'] as const) : (['after'] as const);

/** Selects the first tested effect, call and program. */
const SEED = seedOf();

describeAsRoot('the life cycle of a volume, killed at every boundary', () => {
  let crashing: CrashingCluster;

  beforeAll(async () => {
    crashing = await startCrashingCluster(PROGRAMS);
  });
  afterAll(() => crashing?.stop());

  const live = (run: Run) => crashing.live(run);
  const callsSoFar = () => crashing.wrappers.calls();

  test(
    'survives kills of the daemon at its effects',
    async () => {
      const random = seeded(SEED);
      const effects = await live({});
      for (let effect = 1 + (SEED % EACH.effect); effect <= effects.length; effect += EACH.effect) {
        // Between two effects, a kill after the first is the same as one before the second.
        await live({ effect, when: MANY && random() < 0.5 ? 'before' : 'after' });
      }
      tell('daemon', EACH.effect, `${effects.length} effects: ${effects.join(' ')}`);
    },
    WITHIN,
  );

  test(
    'survives a cut of the connection in calls to the node',
    async () => {
      const effects = await live({});
      const calls = effects.flatMap((name, index) => (name.startsWith('node.') ? [index + 1] : []));
      for (const when of AT) {
        for (let at = SEED % EACH.call; at < calls.length; at += EACH.call) {
          await live({ effect: calls[at] as number, when, cut: true });
        }
      }
      tell('connection', EACH.call, `${calls.length} calls`);
    },
    WITHIN,
  );

  test(
    'survives kills of a job at the programs that it runs',
    async () => {
      const start = (await callsSoFar()).length;
      await live({});
      const calls = (await callsSoFar()).slice(start);
      // Observations call some of these programs, too: killing an observation's shell is also a
      // case.
      const random = seeded(SEED);
      for (let call = 1 + (SEED % EACH.program); call <= calls.length; call += EACH.program) {
        const at = MANY && random() < 0.5 ? 'before' : 'after';
        await live({ job: { during: 'create', crash: { program: '*', call, at } } });
      }
      tell('job', EACH.program, `${calls.length} programs`);
    },
    WITHIN,
  );

  test(
    'survives kills of a job inside mkfs',
    async () => {
      for (const ms of EACH.mkfs) {
        await live({
          size: '200Gi',
          job: { during: 'create', crash: { program: 'mkfs.ext4', call: 1, at: 'inside', ms } },
        });
      }
    },
    WITHIN,
  );
});

function tell(what: string, step: number, of: string): void {
  console.info(`the ${what} was killed at one in ${step} of ${of} (seed ${SEED})`);
}
