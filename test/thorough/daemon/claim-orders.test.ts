import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Resource } from '../../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CLASSES,
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
import { inTurns } from '../../support/in-turns.ts';
import { type Mortal, mortal } from '../../support/mortal.ts';
import { orders } from '../../support/orders.ts';

/**
 * Creates and deletes the objects of KEP-3294's story in every order. Each order has its own
 * namespaces and classes in one sandbox. The daemon's retries are so late that only events cause
 * progress.
 */

const THINGS = ['class', 'snapshot', 'grant', 'claim', 'pod'] as const;
type Thing = (typeof THINGS)[number];

const ORDERS = orders<Thing>(THINGS).map((order, number) => ({ order, number }));

let world: ClaimWorld;
let life: Mortal;
let daemon: TestController;

const ofProd = (number: number, name: string): Key => `prod-${number}/${name}`;
const forTest = (number: number, name: string): Key => `test-${number}/${name}`;

async function create(thing: Thing, number: number): Promise<void> {
  switch (thing) {
    case 'class':
      await world.createClass(`order-${number}`, { volumeBindingMode: 'WaitForFirstConsumer' });
      await world.createSnapshotClass(`order-${number}`);
      return;
    case 'snapshot':
      await world.createSnapshot(ofProd(number, 'backup'), 'foo', `order-${number}`);
      return;
    case 'grant':
      await world.createGrant(ofProd(number, 'to-test'), `test-${number}`);
      return;
    case 'claim': {
      const dataSourceRef = toSnapshot(ofProd(number, 'backup'));
      await world.createClaim(forTest(number, 'copy'), {
        storageClassName: `order-${number}`,
        dataSourceRef,
      });
      return;
    }
    case 'pod':
      await world.createPod(forTest(number, 'reader'), 'copy');
      return;
  }
}

const WHERE: Record<Thing, (number: number) => [Resource, string][]> = {
  class: (number) => [
    [STORAGE_CLASSES, `/order-${number}`],
    [VOLUME_SNAPSHOT_CLASSES, `/order-${number}`],
  ],
  snapshot: (number) => [[VOLUME_SNAPSHOTS, ofProd(number, 'backup')]],
  grant: (number) => [[REFERENCE_GRANTS, ofProd(number, 'to-test')]],
  claim: (number) => [[PERSISTENT_VOLUME_CLAIMS, forTest(number, 'copy')]],
  pod: (number) => [[PODS, forTest(number, 'reader')]],
};
const remove = async (thing: Thing, number: number) => {
  for (const [resource, key] of WHERE[thing](number)) await world.remove(resource, key);
};

/** Returns the expected state of all orders, without the things that `gone` returns for each. */
function whole(gone: (number: number) => readonly Thing[]): Whole {
  const found: Whole = { claims: {}, snapshots: {} };
  for (const { number } of ORDERS) {
    const without = gone(number);
    const data = `of foo ${number}`;
    found.claims[ofProd(number, 'foo')] = { data, size: '1Gi' };
    // A deleted claim stays as long as a pod uses it.
    if (!without.includes('claim') || !without.includes('pod')) {
      found.claims[forTest(number, 'copy')] = { data, size: '1Gi' };
    }
    if (!without.includes('snapshot')) found.snapshots[ofProd(number, 'backup')] = data;
  }
  return found;
}
const nothing = whole(() => THINGS);

/** Waits for the state. Adds the daemon's warnings and errors to the message of a failure. */
async function isWhole(expected: Whole): Promise<void> {
  try {
    await world.isWhole(expected);
  } catch (cause) {
    const said = daemon.lines
      .filter(({ level }) => level === 'warn' || level === 'error')
      .map(
        ({ fields: { err, ...fields }, message }) => `${message} ${JSON.stringify(fields)} ${err}`,
      );
    throw new Error([(cause as Error).message, ...said].join('\n'), { cause });
  }
}

/** Acts on the thing at one position of each order. */
const each = (at: number, act: (thing: Thing, number: number) => Promise<void>) =>
  inTurns(ORDERS, ({ order, number }) => act(order[at] as Thing, number));
const all = (act: (thing: Thing, number: number) => Promise<void>) =>
  inTurns(ORDERS, async ({ order, number }) => {
    for (const thing of order) await act(thing, number);
  });

beforeAll(async () => {
  world = await startClaimWorld({ scheduler: true, nodeNames: ['n1', 'n2'] });
  life = mortal(world.client, world.nodes);
  daemon = await startController(life.client, {
    executor: life.executor,
    provisioning: { crossNamespace: true, snapshotController: 'builtin' },
  });
  await world.createClass('base');
  await inTurns(ORDERS, async ({ number }) => {
    await world.createNamespace(`prod-${number}`);
    await world.createNamespace(`test-${number}`);
    await world.createClaim(ofProd(number, 'foo'), { storageClassName: 'base' });
    await world.isBound(ofProd(number, 'foo'));
    await world.write(ofProd(number, 'foo'), `of foo ${number}`);
  });
  await isWhole(nothing);
});
afterAll(async () => {
  await daemon?.stop();
  await world?.stop();
});

test('creating objects one by one in any order binds the claims', async () => {
  for (const at of THINGS.keys()) {
    await each(at, create);
    await daemon.idle();
  }
  await isWhole(whole(() => []));
});

test('deleting objects one by one in any order keeps the remaining ones intact', async () => {
  for (const at of THINGS.keys()) {
    await each(at, remove);
    await isWhole(whole((number) => ORDERS[number]?.order.slice(0, at + 1) ?? []));
  }
});

test('creating all objects at once in any order binds the claims', async () => {
  await all(create);
  await isWhole(whole(() => []));
});

test('deleting all objects at once in any order leaves neither objects nor work', async () => {
  await all(remove);
  await isWhole(nothing);
  for (const { number } of ORDERS)
    await world.remove(PERSISTENT_VOLUME_CLAIMS, ofProd(number, 'foo'));
  await isWhole({ claims: {}, snapshots: {} });
  await daemon.idle();
  expect(world.stored()).toEqual([]);
});
