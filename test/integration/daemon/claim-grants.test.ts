import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PERSISTENT_VOLUME_CLAIMS, REFERENCE_GRANTS, VOLUMES } from '../../../src/api/resources.ts';
import type { ReferenceGrant } from '../../../src/api/snapshot.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import {
  type ClaimWorld,
  type Key,
  startClaimWorld,
  toSnapshot,
} from '../../support/claim-world.ts';

import { startController, type TestController } from '../../support/controller.ts';
import { inTurns } from '../../support/in-turns.ts';
import { EVERY_CASE } from '../../support/lane.ts';
import { type LazyNodes, lazyNodes } from '../../support/lazy-nodes.ts';
import { until } from '../../support/until.ts';

/**
 * KEP-3294, "Security": grants that are created, deleted and created again while claims are
 * processed, and wrong grants of each kind. The daemon's retries are so late that only events cause
 * progress.
 */

const GROUP = 'snapshot.storage.k8s.io';
const CLAIMS = { group: '', kind: 'PersistentVolumeClaim' };
const SNAPSHOTS = { group: GROUP, kind: 'VolumeSnapshot' };

let world: ClaimWorld;
let nodes: LazyNodes;
let daemon: TestController;
/** Reads of grants, and writes except of events. */
let reads: string[];
let writes: string[];

const noting = (client: KubeClient): KubeClient => ({
  ...client,
  list(resource, options) {
    if (resource.kind === 'ReferenceGrant' && options?.namespace !== undefined) {
      reads.push(options.namespace);
    }
    return client.list(resource, options);
  },
  create(resource, object, options) {
    if (resource.kind !== 'Event') writes.push(`create ${resource.plural} ${object.metadata.name}`);
    return client.create(resource, object, options);
  },
  patch(resource, name, patch, options) {
    if (resource.kind !== 'Event') writes.push(`patch ${resource.plural} ${name}`);
    return client.patch(resource, name, patch, options);
  },
});

beforeAll(async () => {
  reads = [];
  writes = [];
  world = await startClaimWorld();
  nodes = lazyNodes(world.nodes, 'n1', { kubelet: false });
  daemon = await startController(noting(world.client), {
    executor: nodes,
    provisioning: { crossNamespace: true, snapshotController: 'builtin' },
  });
  await world.createClass('fast');
  await world.createSnapshotClass('fast');
  await backup('prod');
});
afterAll(async () => {
  await daemon?.stop();
  await world?.stop();
});

/** Creates a claim with data in a namespace, and its snapshot `backup`. */
async function backup(namespace: string): Promise<void> {
  await world.createClaim(`${namespace}/foo`);
  await world.isBound(`${namespace}/foo`);
  await world.write(`${namespace}/foo`, `of ${namespace}`);
  await world.createSnapshot(`${namespace}/backup`, 'foo');
  await world.isReady(`${namespace}/backup`);
}

const ask = (key: Key, from: Key = 'prod/backup', size = '1Gi') =>
  world.createClaim(key, {
    dataSourceRef: toSnapshot(from),
    resources: { requests: { storage: size } },
  });
const told = async (key: Key) =>
  (await world.eventsOf(key)).map(({ type, reason, message, count }) => ({
    type,
    reason,
    message,
    count,
  }));

/** Waits until the claim has one event that access is not allowed, and no other event. */
async function waits(key: Key): Promise<void> {
  const [namespace = '', name = ''] = key.split('/');
  await until(`${key} has an event`, async () => ((await told(key)).length > 0 ? true : undefined));
  const message = expect.stringMatching(
    new RegExp(
      `^accessing [a-z0-9-]+/backup of VolumeSnapshot dataSource from ${namespace}/${name} isn't allowed`,
    ),
  );
  expect(await told(key)).toEqual([
    { type: 'Warning', reason: 'ProvisioningFailed', message, count: 1 },
  ]);
  const claim = await world.claim(key);
  expect(claim?.status).toEqual({ phase: 'Pending' });
  expect(
    Object.keys(claim?.metadata.annotations ?? {}).filter((each) => each.includes('stowage')),
  ).toEqual([]);
}
async function isRestored(key: Key, data: string): Promise<void> {
  await world.isBound(key);
  expect(await world.fileOf(key)).toMatchObject({ data });
}

const revoke = (key: Key) => world.remove(REFERENCE_GRANTS, key);

describe('a ReferenceGrant', () => {
  test('allows a waiting claim when recreated with another UID', async () => {
    const first = await world.createGrant('prod/to-early', 'early');
    await revoke('prod/to-early');
    await world.createNamespace('early');
    await ask('early/copy');
    await waits('early/copy');
    const second = await world.createGrant('prod/to-early', 'early');
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    await isRestored('early/copy', 'of prod');
  });

  test('does not stop a running restore when deleted, but blocks new claims', async () => {
    await world.createNamespace('meanwhile');
    await world.createGrant('prod/to-meanwhile', 'meanwhile');
    nodes.laziness = Infinity;
    const { metadata } = await ask('meanwhile/copy');
    const volumeName = `pvc-${metadata.uid}`;
    await until('the job of the Volume runs', async () => {
      const volume = await world.find<{ status?: { job?: string } } & ReferenceGrant>(
        VOLUMES,
        `/${volumeName}`,
      );
      return volume?.status?.job === 'PrepareVolume/1' ? true : undefined;
    });
    await revoke('prod/to-meanwhile');
    await ask('meanwhile/late');
    await waits('meanwhile/late');
    nodes.laziness = 0;
    await nodes.runAll();
    await isRestored('meanwhile/copy', 'of prod');
    // The restored claim stays.
    expect((await world.claim('meanwhile/late'))?.status?.phase).toBe('Pending');
    await world.createGrant('prod/to-meanwhile', 'meanwhile');
    await isRestored('meanwhile/late', 'of prod');
  });

  test('keeps restored volumes when deleted, but blocks new claims', async () => {
    await world.createNamespace('after');
    await world.createGrant('prod/to-after', 'after');
    await ask('after/copy');
    await isRestored('after/copy', 'of prod');
    await revoke('prod/to-after');
    await ask('after/second');
    await waits('after/second');
    await isRestored('after/copy', 'of prod');
    expect(await told('after/copy')).toEqual([]);
  });

  test('takes effect at once when corrected', async () => {
    await world.createNamespace('changed');
    await world.createGrant('prod/to-changed', 'another');
    await ask('changed/copy');
    await waits('changed/copy');
    const patch = { spec: { from: [{ ...CLAIMS, namespace: 'changed' }] } };
    await world.client.patch(REFERENCE_GRANTS, 'to-changed', patch, { namespace: 'prod' });
    await isRestored('changed/copy', 'of prod');
  });
});

/**
 * A wrong grant. `NS` stands for the namespace of the claim. `refused`: the API server refuses the
 * grant.
 */
interface Wrong {
  from?: ReferenceGrant['spec']['from'];
  to?: ReferenceGrant['spec']['to'];
  in?: 'NS';
  refused?: true;
}
const RIGHT: Required<Pick<Wrong, 'from' | 'to'>> = {
  from: [{ ...CLAIMS, namespace: 'NS' }],
  to: [SNAPSHOTS],
};
/** test/model/data-source/grant.test.ts has more grants that the API server accepts. */
const WRONG: [string, Wrong][] = [
  ['another namespace in from', { from: [{ ...CLAIMS, namespace: 'other' }] }],
  ['pods in from', { from: [{ group: '', kind: 'Pod', namespace: 'NS' }] }],
  ['a prefix of the name in to', { to: [{ ...SNAPSHOTS, name: 'back' }] }],
  ['a pattern for the name in to', { to: [{ ...SNAPSHOTS, name: '*' }] }],
  ['a group with a version in to', { to: [{ ...SNAPSHOTS, group: `${GROUP}/v1` }], refused: true }],
  ['no group in to', { to: [{ kind: 'VolumeSnapshot' } as never], refused: true }],
  ['no from', { from: [], refused: true }],
  ['an empty name in to', { to: [{ ...SNAPSHOTS, name: '' }], refused: true }],
  ['the namespace of the claim in metadata', { in: 'NS' }],
];

const within = <T>(namespace: string, of: T): T =>
  JSON.parse(JSON.stringify(of).replaceAll('"NS"', JSON.stringify(namespace)));

describe('a ReferenceGrant with', () => {
  test.each(WRONG.map(([what, wrong], number) => [what, wrong, `wrong-${number}`] as const))(
    '%s allows nothing, and a correct grant beside it does',
    async (_, wrong, namespace) => {
      await world.createNamespace(namespace);
      await ask(`${namespace}/copy`);
      await waits(`${namespace}/copy`);
      const { in: where = 'prod', refused, ...spec } = within(namespace, { ...RIGHT, ...wrong });
      const made = world.createGrant(`${where}/${namespace}-wrong`, namespace, spec);
      if (refused) await expect(made).rejects.toMatchObject({ statusCode: 422 });
      else await made;
      // Later claims wait, too.
      await ask(`${namespace}/later`);
      await waits(`${namespace}/later`);
      await waits(`${namespace}/copy`);
      await world.createGrant(`prod/${namespace}-right`, namespace);
      await isRestored(`${namespace}/copy`, 'of prod');
      await isRestored(`${namespace}/later`, 'of prod');
    },
  );
});

test('without a grant, the event is the same for any snapshot, existing or not', async () => {
  await Promise.all(['none', 'unready', 'large'].map((name) => world.createNamespace(name)));
  await world.createNamespace('asks');
  await world.createSnapshot('unready/backup', 'foo');
  await backup('large');
  const asked: [Key, string, string?][] = [
    ['asks/first', 'none'],
    ['asks/second', 'unready'],
    ['asks/third', 'large', '1Mi'],
    ['asks/fourth', 'prod'],
    ['asks/fifth', 'no-such-namespace'],
  ];
  const messages = new Set<string>();
  for (const [key, namespace, size] of asked) {
    await ask(key, `${namespace}/backup`, size);
    await waits(key);
    const [event] = await told(key);
    const place = new RegExp(`\\b${namespace}\\b`, 'g');
    messages.add((event?.message ?? '').replaceAll(key, 'KEY').replaceAll(place, 'NAMESPACE'));
  }
  expect(messages.size).toBe(1);
  expect([...messages].join()).not.toMatch(/exist|ready|size|Gi|bytes|snapcontent/);
});

/** 1,000 claims in the complete lanes, 100 in others: the limits of the counts hold for both. */
const [SOURCES, ASKERS, RIGHT_ASKERS] = EVERY_CASE ? [20, 50, 5] : [5, 20, 2];

test('only granted claims are bound among many wrong grants, with few list calls', async () => {
  const sources = Array.from({ length: SOURCES }, (_, number) => `source-${number}`);
  const askers = Array.from({ length: ASKERS }, (_, number) => `asker-${number}`);
  await Promise.all([...sources, ...askers].map((name) => world.createNamespace(name)));
  await Promise.all(sources.map(backup));
  const pairs = sources.flatMap((source) => askers.map((asker, at) => ({ source, asker, at })));
  const keyOf = ({ source, asker }: { source: string; asker: string }): Key =>
    `${asker}/of-${source}`;
  const isRight = ({ at }: { at: number }) => at < RIGHT_ASKERS;
  const wrongs = WRONG.flatMap(([, wrong]) => (wrong.refused ? [] : [wrong]));

  reads.length = 0;
  const began = performance.now();
  await inTurns(pairs, (pair) => ask(keyOf(pair), `${pair.source}/backup`, '1Gi'));
  const byAsker = async () => {
    const { items } = await world.client.list<
      { involvedObject?: { namespace?: string } } & ReferenceGrant
    >({ group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true }, {});
    return items.filter(({ involvedObject }) => involvedObject?.namespace?.startsWith('asker-'));
  };
  await until('all claims have an event', async () =>
    (await byAsker()).length === pairs.length ? true : undefined,
  );
  const readsOfClaims = reads.length;

  await inTurns(pairs, async (pair) => {
    const { source, asker, at } = pair;
    if (isRight(pair)) return world.createGrant(`${source}/to-${asker}`, asker);
    const { in: where = source, ...spec } = within(asker, {
      ...RIGHT,
      ...wrongs[at % wrongs.length],
    });
    return world.createGrant(`${where}/to-${asker}-of-${source}`, asker, spec);
  });
  const bound = async () => {
    const { items } = await world.client.list<never>(PERSISTENT_VOLUME_CLAIMS, {});
    return (items as { metadata: { namespace?: string }; status?: { phase?: string } }[]).filter(
      ({ metadata, status }) =>
        metadata.namespace?.startsWith('asker-') && status?.phase === 'Bound',
    ).length;
  };
  const right = pairs.filter(isRight).length;
  await until('claims with a correct grant are bound', async () =>
    (await bound()) === right ? true : undefined,
  );
  const took = performance.now() - began;
  const readsOfGrants = reads.length - readsOfClaims;
  console.info(
    `${pairs.length} claims and grants: ${right} bound after ${Math.round(took)} ms; grants were listed ${readsOfClaims} times for claims, ${readsOfGrants} times since`,
  );

  // A deleted Volume frees capacity, which these claims do not wait for.
  const before = { reads: reads.length, writes: writes.length };
  await world.remove(PERSISTENT_VOLUME_CLAIMS, keyOf(pairs[0] as (typeof pairs)[number]));
  await until('the Volume is gone', async () =>
    (await bound()) === right - 1 && (await world.all(VOLUMES)).length > 0 ? true : undefined,
  );
  await daemon.idle();
  const readsOfRoom = reads.length - before.reads;
  await world.createGrant('source-0/late', `asker-${ASKERS - 1}`);
  await isRestored(`asker-${ASKERS - 1}/of-source-0`, 'of source-0');
  await daemon.idle();
  const readsOfOne = reads.length - before.reads - readsOfRoom;
  console.info(
    `grants were listed ${readsOfRoom} times for room, ${readsOfOne} times for one grant more`,
  );
  expect(await bound()).toBe(right);
  const events = await byAsker();
  // Bound claims have one event, too, as they waited first.
  expect(events).toHaveLength(pairs.length);
  // Reads occur for the binder's writes to a new claim, and for the right grant.
  expect(readsOfClaims).toBeLessThan(4 * pairs.length);
  expect(readsOfGrants).toBeLessThan(4 * right);
  expect(readsOfRoom).toBe(0);
  expect(readsOfOne).toBeLessThan(5);
}, 240_000);
