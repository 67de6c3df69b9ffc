import { afterAll, beforeAll, test } from '@jest/globals';
import { type CrashingCluster, startCrashingCluster } from '../support/crash-life.ts';
import { PROGRAMS } from '../support/faulty-life.ts';
import { BACKINGS, type Backing, CONTENTS, type Content } from '../support/kinds.ts';
import { describeAsRoot } from '../support/root.ts';

/** `npm run test:faults` has the time for every kind, and for both sides of an effect; each is after the one before. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const WHEN = MANY ? (['before', 'after'] as const) : (['after'] as const);

/** Sparse files with ext4 are killed before and after each effect in crash.test.ts. */
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
  }, 60_000);
  afterAll(() => crashing?.stop(), 60_000);

  test.each(KINDS)(
    `a %s with %s: ${WHEN.join(' and ')} each effect`,
    async (backing, content) => {
      const effects = await crashing.live({ backing, content });
      for (const when of WHEN) {
        for (let effect = 1; effect <= effects.length; effect++) {
          await crashing.live({ backing, content, effect, when });
        }
      }
      console.info(`${backing} with ${content}: killed at ${effects.length} effects, ${WHEN.join(' and ')}`);
    },
    900_000,
  );
});
