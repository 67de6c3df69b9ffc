import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import {
  type Kind,
  type Life,
  liveOnce,
  nameOf,
  type Point,
  PROGRAMS,
  READ_ONLY_CALLS,
} from '../support/faulty-life.ts';
import { BACKINGS, CONTENTS, type Kinds, setUpKinds } from '../support/kinds.ts';
import { seeded, seedOf } from '../support/random.ts';
import { describeAsRoot } from '../support/root.ts';
import { sha256 } from '../support/signatures.ts';
import { makeWrappers, type Wrappers } from '../support/wrappers.ts';

/** Number of random points. `npm run test:faults` sets a larger one. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const COUNT = Number(process.env.STOWAGE_FAULTS ?? 10);

const SEED = seedOf();

const KINDS: Kind[] = BACKINGS.flatMap((backing) =>
  CONTENTS.flatMap((content) =>
    (['Delete', 'Wipe'] as const).map((onDelete) => ({ backing, content, onDelete })),
  ),
);

describeAsRoot('a job of every kind of volume, killed', () => {
  let kinds: Kinds;
  let wrappers: Wrappers;
  let foreign: string;
  let before: string;
  const uninterrupted = new Map<string, Promise<Life>>();

  beforeAll(async () => {
    wrappers = await makeWrappers({ programs: PROGRAMS });
    kinds = await setUpKinds({ PATH: wrappers.path });
    const file = join(kinds.folder, 'foreign');
    await execa('truncate', ['-s', '32M', file]);
    await execa('mkfs.ext4', ['-q', file]);
    foreign = (await execa('losetup', ['--find', '--show', file])).stdout;
    before = await sha256(foreign);
  });
  afterEach(async () => {
    await kinds.clean();
    expect(await sha256(foreign)).toBe(before);
  });
  afterAll(async () => {
    if (foreign !== undefined) await execa('losetup', ['--detach', foreign]);
    await kinds?.stop();
    await wrappers?.remove();
  });

  async function live(kind: Kind, point?: Point): Promise<Life> {
    try {
      return await liveOnce(kinds, wrappers, kind, point);
    } finally {
      await wrappers.happened();
      await kinds.clean();
    }
  }

  /** Returns the life of that kind without a crash, which shows the possible points. */
  async function calm(kind: Kind): Promise<Life> {
    const life = uninterrupted.get(nameOf(kind)) ?? live(kind);
    uninterrupted.set(nameOf(kind), life);
    return life;
  }

  /** Slow programs, to be killed inside after these delays in ms. More of them if time permits. */
  const INSIDE = MANY
    ? ([
        ['provision', 'mkfs.ext4', [0, 1, 2, 4, 8, 16]],
        ['provision', 'mkfs.xfs', [0, 2, 8, 32]],
        ['provision', 'sgdisk', [0, 1, 2, 4, 8]],
        ['delete', 'dd', [0, 8, 32, 128]],
      ] as const)
    : ([
        ['provision', 'mkfs.ext4', [2]],
        ['provision', 'mkfs.xfs', [8]],
        ['provision', 'sgdisk', [2]],
        ['delete', 'dd', [32]],
      ] as const);

  const inside = KINDS.flatMap((kind) =>
    INSIDE.filter(([during, program]) => {
      if (during === 'delete') return kind.onDelete === 'Wipe';
      if (kind.onDelete === 'Wipe') return false;
      return program === (kind.content === 'Block' ? 'sgdisk' : `mkfs.${kind.content}`);
    }).map(([during, program, times]) => [program, nameOf(kind), kind, during, times] as const),
  );

  test.each(inside)(
    'recovers when killed inside %s of a %s',
    async (program, _, kind, during, times) => {
      const except =
        READ_ONLY_CALLS[program] === undefined ? {} : { except: READ_ONLY_CALLS[program] };
      for (const ms of times) {
        const crash = { program, call: 1, at: 'inside', ms, ...except } as const;
        expect((await live(kind, { during, crash })).happened).toBe(true);
      }
    },
    300_000,
  );

  test(
    `recovers when killed at ${COUNT} random points`,
    async () => {
      const random = seeded(SEED);
      let longest = 0;
      let met = 0;
      for (let number = 1; number <= COUNT; number++) {
        const kind = pick(KINDS, random());
        const point = pointIn(await calm(kind), random);
        try {
          const { happened, took } = await live(kind, point);
          if (happened) met++;
          longest = Math.max(longest, took);
        } catch (cause) {
          const where = `seed ${SEED}, point ${number}: ${nameOf(kind)}, ${JSON.stringify(point)}`;
          throw new Error(`${where}: ${(cause as Error).message}`, { cause });
        }
      }
      console.info(`${met} of ${COUNT} points were met; the longest way took ${longest} ms`);
      // The n-th call of a program depends on the machine's load.
      expect(met).toBeGreaterThan(COUNT * 0.8);
    },
    COUNT * 60_000,
  );
});

const pick = <T>(values: readonly T[], at: number): T =>
  values[Math.floor(at * values.length)] as T;

/** Returns a random call of an uninterrupted life: before it, after it, or at some time inside. */
function pointIn({ calls }: Life, random: () => number): Point {
  const during = random() < 0.5 ? 'provision' : 'delete';
  const index = Math.floor(random() * calls[during].length);
  const program = calls[during][index]?.program ?? '';
  const call = calls[during].slice(0, index + 1).filter((each) => each.program === program).length;
  const at = pick(['before', 'after', 'inside'] as const, random());
  const ms = Math.floor(2 ** (random() * 7));
  return { during, crash: { program, call, at, ms: at === 'inside' ? ms : 0 } };
}
