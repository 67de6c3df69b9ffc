import { afterAll, beforeEach, expect, test } from '@jest/globals';
import type { CsiStorageCapacity } from '../../../src/api/core.ts';
import {
  CSI_DRIVERS,
  CSI_STORAGE_CAPACITIES,
  PERSISTENT_VOLUME_CLAIMS,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOTS,
} from '../../../src/api/resources.ts';
import {
  type ClaimWorld,
  type Key,
  startClaimWorld,
  toSnapshot,
  type Whole,
} from '../../support/claim-world.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { type LazyNodes, lazyNodes } from '../../support/lazy-nodes.ts';
import { type Mortal, mortal } from '../../support/mortal.ts';
import { seeded, seedOf } from '../../support/random.ts';
import { until } from '../../support/until.ts';

/**
 * The daemon is killed at each effect of a claim's provisioning, expansion and reclaim, of a
 * snapshot's creation and deletion, and of restores. A new daemon starts with the same API server
 * and node, and must reach the right result, regardless of concurrent changes by users.
 */

/**
 * Tests before and after every effect, with all changes by users. Otherwise every fifth effect, and
 * one choice of the rest.
 */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const SEED = seedOf();
const EACH = MANY ? 1 : 5;
/** Exceeds the number of effects of any scenario. */
const MOST = 60;

const random = seeded(SEED);
const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
const some = <T>(of: readonly T[]): readonly T[] => (MANY ? of : [pick(of)]);

/** Number of polls before a job runs. With 0, it runs while it is submitted. */
const LAZINESS = [0, 2];

const SIZE = '1Gi';
const DATA = 'of foo';
/** Initial state of each scenario: a claim with data, and its snapshot. */
const BASE: Whole = {
  claims: { 'prod/foo': { data: DATA, size: SIZE } },
  snapshots: { 'prod/backup': DATA },
};
const withClaim = (key: Key, data?: string, size = SIZE): Whole => ({
  ...BASE,
  claims: { ...BASE.claims, [key]: { data, size } },
});

interface Way {
  name: string;
  from: Whole;
  /** Leads from the base to the initial state. */
  before?(): Promise<unknown>;
  act(): Promise<unknown>;
  to: Whole;
  /** A change after `act` while no daemon runs, and the resulting state. */
  change?: { name: string; act(): Promise<unknown>; to: Whole };
}

let world: ClaimWorld;
let nodes: LazyNodes;
let life: Mortal;
let daemon: TestController | undefined;
/** Set if the last case ended correctly: the next one continues from its state. */
let sound = false;

const removeClaim = (key: Key) => world.remove(PERSISTENT_VOLUME_CLAIMS, key);
const removeSnapshot = (key: Key) => world.remove(VOLUME_SNAPSHOTS, key);
const grow = (size: string) => {
  const patch = { spec: { resources: { requests: { storage: size } } } };
  return world.client.patch(PERSISTENT_VOLUME_CLAIMS, 'new', patch, { namespace: 'test' });
};

/** A claim that is restored from a source. */
const restore = (name: string, key: Key, act: () => Promise<unknown>): Way => ({
  ...{ name, from: BASE, act, to: withClaim(key, DATA) },
  change: { name: 'its deletion', act: () => removeClaim(key), to: BASE },
});

const WAYS: Way[] = [
  {
    name: 'a claim',
    from: BASE,
    act: () => world.createClaim('test/new'),
    to: withClaim('test/new'),
    change: { name: 'its deletion', act: () => removeClaim('test/new'), to: BASE },
  },
  {
    name: 'the deletion of a claim',
    from: withClaim('test/new'),
    before: () => world.createClaim('test/new'),
    act: () => removeClaim('test/new'),
    to: BASE,
    change: {
      name: 'the creation of one with its name',
      act: async () => {
        await until('the first claim is gone', async () =>
          (await world.claim('test/new')) === undefined ? true : undefined,
        );
        await world.createClaim('test/new');
      },
      to: withClaim('test/new'),
    },
  },
  {
    name: 'an expansion',
    from: withClaim('test/new'),
    before: () => world.createClaim('test/new'),
    act: () => grow('2Gi'),
    to: withClaim('test/new', undefined, '2Gi'),
    change: {
      name: 'another expansion',
      act: () => grow('3Gi'),
      to: withClaim('test/new', undefined, '3Gi'),
    },
  },
  {
    name: 'a snapshot',
    from: BASE,
    act: () => world.createSnapshot('prod/second', 'foo'),
    to: { ...BASE, snapshots: { ...BASE.snapshots, 'prod/second': DATA } },
    change: { name: 'its deletion', act: () => removeSnapshot('prod/second'), to: BASE },
  },
  {
    name: 'the deletion of a snapshot',
    from: { ...BASE, snapshots: { ...BASE.snapshots, 'prod/second': DATA } },
    before: () => world.createSnapshot('prod/second', 'foo'),
    act: () => removeSnapshot('prod/second'),
    to: BASE,
  },
  restore('a claim from a snapshot of its namespace', 'prod/copy', () =>
    world.createClaim('prod/copy', {
      dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'backup' },
    }),
  ),
  restore('a claim from a granted snapshot', 'test/copy', () =>
    world.createClaim('test/copy', { dataSourceRef: toSnapshot('prod/backup') }),
  ),
  restore('a claim by a link', 'test/linked', () =>
    world.createClaim('test/linked', {
      dataSourceRef: {
        apiGroup: 'snapshot.storage.k8s.io',
        kind: 'VolumeSnapshotLink',
        name: 'backup',
      },
    }),
  ),
  restore('a clone', 'prod/clone', () =>
    world.createClaim('prod/clone', { dataSource: { kind: 'PersistentVolumeClaim', name: 'foo' } }),
  ),
];

/**
 * Starts a daemon with clients that can fail. The daemon before must have ended. Publishes capacity
 * in `namespace`, if given.
 */
async function live(namespace?: string, arm = (_: Mortal) => {}): Promise<void> {
  life = mortal(world.client, nodes);
  arm(life);
  daemon = await startController(life.client, {
    executor: life.executor,
    retry: { startMs: 100, maxMs: 1000 },
    provisioning: { crossNamespace: true, snapshotController: 'builtin', namespace },
  });
}
async function end(): Promise<void> {
  await daemon?.stop();
  daemon = undefined;
}

beforeEach(async () => {
  if (sound) return;
  await end();
  await world?.stop();
  world = await startClaimWorld();
  nodes = lazyNodes(world.nodes, 'n1', { kubelet: false });
  await live();
  await world.createClass('fast');
  await world.createSnapshotClass('fast');
  await world.createGrant('prod/to-test', 'test');
  await world.createLink('test/backup', { namespace: 'prod', name: 'backup' });
  await world.createClaim('prod/foo');
  await world.isBound('prod/foo');
  await world.write('prod/foo', DATA);
  await world.createSnapshot('prod/backup', 'foo');
  await world.isWhole(BASE);
});
afterAll(async () => {
  await end();
  await world?.stop();
});

/** Restores the base with a daemon that does not die. */
async function undo(): Promise<void> {
  for (const [resource, kept] of [
    [PERSISTENT_VOLUME_CLAIMS, BASE.claims],
    [VOLUME_SNAPSHOTS, BASE.snapshots],
  ] as const) {
    for (const { metadata } of await world.all(resource)) {
      const key = `${metadata.namespace}/${metadata.name}`;
      if (!(key in kept)) await world.remove(resource, key);
    }
  }
  await world.isWhole(BASE);
}

interface Death {
  at: number;
  when: 'before' | 'after';
  laziness: number;
  changes: boolean;
}

/**
 * Kills the daemon at an effect.
 * @returns that effect, or undefined if the scenario ended before it
 */
async function killed(
  way: Way,
  { at, when, laziness, changes }: Death,
): Promise<string | undefined> {
  nodes.laziness = 0;
  await way.before?.();
  await world.isWhole(way.from);
  await daemon?.idle();

  nodes.laziness = laziness;
  let hasDied = false;
  void life.arm(at, when).then(() => {
    hasDied = true;
  });
  await way.act();
  await until('the daemon is killed, or has finished', async () =>
    hasDied || (await world.whatIsWrong(way.to)) === undefined ? true : undefined,
  );
  await daemon?.idle();
  const effect = hasDied ? life.effects.at(at - 1) : undefined;
  await end();

  const change = changes ? way.change : undefined;
  await change?.act();
  await live();
  await world.isWhole(change?.to ?? way.to);
  // Remaining jobs of the killed daemon run last.
  await nodes.runAll();
  await daemon?.idle();
  await world.isWhole(change?.to ?? way.to, 0);
  nodes.laziness = 0;
  await undo();
  return effect;
}

const CASES = WAYS.flatMap((way) =>
  some(['before', 'after'] as const).flatMap((when) =>
    some(way.change === undefined ? [false] : [false, true]).map(
      (changes) =>
        [when, way.name, changes ? way.change?.name : 'nothing else', way, changes] as const,
    ),
  ),
);

test.each(CASES)(
  'recovers when killed %s each effect of %s, while %s happens',
  async (when, _, __, way, changes) => {
    sound = false;
    const effects: string[] = [];
    for (let at = 1 + Math.floor(random() * EACH); ; at += EACH) {
      expect(at).toBeLessThan(MOST);
      const death: Death = { at, when, laziness: pick(LAZINESS), changes };
      try {
        const effect = await killed(way, death);
        if (effect === undefined) break;
        effects.push(effect);
      } catch (cause) {
        const where = `${JSON.stringify(death)}, after ${life.effects.join(', ')}`;
        throw new Error(`seed ${SEED}, ${where}: ${(cause as Error).message}`, { cause });
      }
    }
    expect(effects.length).toBeGreaterThan(0);
    console.info(`${way.name}: killed ${when} ${effects.length} effects: ${effects.join(', ')}`);
    sound = true;
  },
  600_000,
);

test.each(some(['before', 'after'] as const))(
  'recovers when killed %s each effect of publishing storage capacity',
  async (when) => {
    sound = false;
    const capacities = () => world.all<CsiStorageCapacity>(CSI_STORAGE_CAPACITIES);
    const isTold = async (...classes: string[]) => {
      const told = (await capacities()).map(({ storageClassName }) => storageClassName);
      return told.sort().join() === classes.join() ? true : undefined;
    };
    const effects: string[] = [];
    for (let at = 1; ; at++) {
      expect(at).toBeLessThan(MOST);
      await end();
      for (const { metadata } of await capacities()) {
        await world.remove(CSI_STORAGE_CAPACITIES, `${metadata.namespace}/${metadata.name}`);
      }
      if (at > 1) await world.remove(CSI_DRIVERS, '/volume.stowage.dev');
      let hasDied = false;
      await live('default', (mine) => {
        void mine.arm(at, when).then(() => {
          hasDied = true;
        });
      });
      await world.createClass('room');
      await until('the daemon is killed, or has finished', async () =>
        hasDied ? true : isTold('fast', 'room'),
      );
      await daemon?.idle();
      const effect = hasDied ? life.effects.at(at - 1) : undefined;
      await end();
      await live('default');
      await until('the capacity of both classes is published', () => isTold('fast', 'room'));
      expect(await world.all(CSI_DRIVERS)).toHaveLength(1);
      await world.remove(STORAGE_CLASSES, '/room');
      await until('the capacity of one class is published', () => isTold('fast'));
      await daemon?.idle();
      if (effect === undefined) break;
      effects.push(effect);
    }
    console.info(`room: killed ${when} ${effects.length} effects: ${effects.join(', ')}`);
    await end();
    await live();
    sound = true;
  },
);
