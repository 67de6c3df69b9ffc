import { afterAll, beforeAll, test } from '@jest/globals';
import { type CrashingCluster, type Run, startCrashingCluster } from '../support/crash-life.ts';
import { PROGRAMS } from '../support/faulty-life.ts';
import { BACKINGS, type Backing, CONTENTS, type Content } from '../support/kinds.ts';
import { seeded, seedOf } from '../support/random.ts';
import { describeAsRoot } from '../support/root.ts';

/** `npm run test:faults` has the time for every kind, and for every effect. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const EACH = MANY ? 1 : 6;

/** A fifth of the kills of jobs: each kill needs a start of the daemon, and a whole life. */
const COUNT = Math.ceil(Number(process.env.STOWAGE_FAULTS ?? 20) / 5);

/**
 * Selects the random points, the first effect of each step, and in `npm run test:faults` whether
 * the daemon is killed before or after an effect: between two effects, both are the same.
 */
const SEED = seedOf();

/** crash.test.ts kills backing files with ext4 at each effect. */
const KINDS: (readonly [Backing, Content])[] = MANY
  ? BACKINGS.flatMap((backing) => CONTENTS.map((content) => [backing, content] as const))
  : [
      ['sparse file', 'Block'],
      ['disk', 'xfs'],
      ['partition', 'Block'],
    ];

describeAsRoot('the daemon, killed at every effect of every kind of volume', () => {
  let crashing: CrashingCluster;

  beforeAll(async () => {
    crashing = await startCrashingCluster(PROGRAMS);
  });
  afterAll(() => crashing?.stop());

  test.each(KINDS)(
    `a %s with %s survives a kill at each ${MANY ? '' : 'sixth '}effect`,
    async (backing, content) => {
      const random = seeded(SEED);
      const effects = await crashing.live({ backing, content });
      for (let effect = 1 + (SEED % EACH); effect <= effects.length; effect += EACH) {
        const when = MANY && random() < 0.5 ? 'before' : 'after';
        await crashing.live({ backing, content, effect, when });
      }
      const where = MANY ? '' : 'every sixth of ';
      console.info(
        `${backing} with ${content}: killed at ${where}${effects.length} effects (seed ${SEED})`,
      );
    },
    900_000,
  );

  test(
    `recovers with a job and the daemon or its connection killed at ${COUNT} random points`,
    async () => {
      const random = seeded(SEED);
      const pick = <T>(values: readonly T[]): T =>
        values[Math.floor(random() * values.length)] as T;
      for (let number = 1; number <= COUNT; number++) {
        const run: Run = {
          backing: pick(BACKINGS),
          content: pick(CONTENTS),
          onDelete: pick(['Delete', 'Wipe']),
          // Some lives have fewer effects and programs, and reach only one of the two points, or
          // none.
          effect: 1 + Math.floor(random() * 24),
          when: pick(['before', 'after']),
          cut: random() < 0.3,
          job: {
            during: pick(['create', 'delete']),
            crash: {
              program: '*',
              call: 1 + Math.floor(random() * 60),
              at: pick(['before', 'after', 'inside']),
              ms: Math.floor(2 ** (random() * 7)),
            },
          },
        };
        try {
          await crashing.live(run);
        } catch (cause) {
          const where = `seed ${SEED}, point ${number}: ${JSON.stringify(run)}`;
          throw new Error(`${where}: ${(cause as Error).message}`, { cause });
        } finally {
          await crashing.wrappers.happened();
        }
      }
    },
    COUNT * 60_000,
  );
});
