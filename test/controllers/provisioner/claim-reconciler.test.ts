import { describe, expect, test } from '@jest/globals';
import type { KubeNode, PersistentVolumeClaim, StorageClass } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { createReservations } from '../../../src/controllers/lib/capacity/reservations.ts';
import type { ClaimReconcilerDeps } from '../../../src/controllers/provisioner/deps.ts';
import { createClaimReconciler } from '../../../src/controllers/provisioner/reconciler.ts';
import type { ClaimStart } from '../../../src/controllers/provisioner/types.ts';
import { claimVolume } from '../../../src/model/claim-volume.ts';
import { EMIT_AGAIN_AFTER } from '../../../src/workqueue/emit-again.ts';
import { memoryLogger } from '../../support/logger.ts';
import {
  claim,
  GIB,
  node,
  options,
  pod,
  storageClass,
  UID,
  volume,
  waiting,
} from './claim-input.ts';

const KEY = 'prod/data';
const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
const ready = (contentName: string): ClaimStart => ({
  is: 'ready',
  source: { snapshotContentName: contentName },
  nodes: ['n1'],
});
const denied: ClaimStart = {
  is: 'waits',
  message: 'no grant',
  on: [{ kind: 'ReferenceGrant', namespace: 'other' }],
};

/** Creates a reconciler of one claim with caches whose content the test sets. */
function world(
  resolve: (claim: PersistentVolumeClaim, asks: number) => ClaimStart | Promise<ClaimStart>,
) {
  const made: Volume[] = [];
  const reservations = createReservations<Volume>(({ spec }, on) => spec.nodeName === on);
  /** Names of Volumes with capacity reserved on n1 while they are created. */
  const promised: string[] = [];
  const events: string[] = [];
  const ends: object[] = [];
  const effects: string[] = [];
  const state = {
    claim: claim({ dataSourceRef: snapshot }),
    asks: 0,
    whileLooking: () => {},
    whilePatching: () => {},
    freeBytes: 10n * GIB,
    storageClass: storageClass(),
  };
  const cacheOf = <T extends KubeObject>(list: () => T[]) => ({
    list,
    get: (name: string) => list().find(({ metadata }) => metadata.name === name),
    recordWrite() {},
  });
  let seen = false;
  const time = { ms: 0 };
  const deps = {
    client: {
      create: async (_: unknown, volume: Volume) => {
        promised.push(...reservations.on('n1').map(({ metadata }) => metadata.name));
        made.push(volume);
        return volume;
      },
      delete: async (_: unknown, name: string, options: object) => {
        effects.push(`delete ${name} ${JSON.stringify(options)}`);
      },
      patch: async (_: unknown, name: string, patch: object) => {
        effects.push(`patch ${name} ${JSON.stringify(patch)}`);
        state.whilePatching();
        return state.claim;
      },
    },
    claims: cacheOf(() => [state.claim]),
    volumes: cacheOf(() => made),
    persistentVolumes: cacheOf(() => []),
    storageClasses: cacheOf<StorageClass>(() => [state.storageClass]),
    nodes: cacheOf<KubeNode>(() => [node('n1')]),
    rooms: {
      room: () => (seen ? { freeBytes: state.freeBytes } : undefined),
      observe: async () => {
        seen = true;
        state.whileLooking();
      },
      forget() {},
      refuse: (...what: unknown[]) => effects.push(`refuse ${what[0]} ${what[2]}`),
    },
    reservations,
    resolve: async (of: PersistentVolumeClaim) => resolve(of, ++state.asks),
    consumersOf: () => [pod()],
    managesNode: () => true,
    events: {
      event: (_: unknown, __: string, ___: string, message: string) => events.push(message),
    },
    clock: { now: () => time.ms, timeOfDay: () => time.ms },
    logger: memoryLogger(),
    onProvisioned: (end: object) => ends.push(end),
  } as unknown as ClaimReconcilerDeps;
  const reconciler = createClaimReconciler(deps);
  const run = () => reconciler.reconcile(KEY, new AbortController().signal);
  return { ...reconciler, ends, time, state, made, reservations, promised, events, effects, run };
}

test('a source whose grant is withdrawn during the observation is not used', async () => {
  let granted = true;
  const { state, run, made, events } = world(() => (granted ? ready('c') : denied));
  state.whileLooking = () => {
    granted = false;
  };
  await run();
  expect(made).toEqual([]);
  expect(events).toEqual(['no grant']);
});

test('a claim recreated meanwhile uses its own data source', async () => {
  const { state, run, made } = world((of) => ready(of.metadata.uid ?? ''));
  state.whileLooking = () => {
    state.claim = { ...state.claim, metadata: { ...state.claim.metadata, uid: 'another' } };
  };
  await run();
  expect(made.map(({ spec }) => spec.source)).toEqual([{ snapshotContentName: 'another' }]);
});

test('a claim recreated meanwhile without a data source gets an empty volume', async () => {
  const { state, run, made } = world(() => ready('c'));
  state.whileLooking = () => {
    const { metadata } = state.claim;
    state.claim = { ...claim(), metadata: { ...metadata, uid: 'another' } };
  };
  await run();
  expect(made.map(({ metadata, spec }) => [metadata.name, spec.source])).toEqual([
    ['pvc-another', undefined],
  ]);
});

test('a grant that appears while the source is resolved triggers another resolution', async () => {
  const grant = {
    apiVersion: 'v1',
    kind: 'ReferenceGrant',
    metadata: { namespace: 'other', name: 'g' },
  };
  const { run, made, waitingFor } = world((_, asks) => {
    if (asks > 1) return ready('c');
    waitingFor('ReferenceGrant', grant);
    return denied;
  });
  await run();
  expect(made.length).toBe(1);
});

test('a source that keeps changing is resolved at most ten times', async () => {
  const grant = {
    apiVersion: 'v1',
    kind: 'ReferenceGrant',
    metadata: { namespace: 'other', name: 'g' },
  };
  const { run, state, waitingFor } = world(() => {
    waitingFor('ReferenceGrant', grant);
    return denied;
  });
  await run();
  expect(state.asks).toBe(10);
  expect(waitingFor('ReferenceGrant', grant)).toEqual([KEY]);
});

test('lack of capacity is reported once, even if the amount changes', async () => {
  const { state, run, events } = world(() => ({ is: 'none' }));
  state.claim = claim();
  state.freeBytes = 5n;
  await run();
  state.freeBytes = 6n;
  expect(await run()).toEqual({ requeueAfterMs: 30_000 });
  expect(events).toEqual([expect.stringContaining('has 5 bytes available')]);
});

test('a persisting problem is reported again only after its event expires', async () => {
  const { time, run, events } = world(() => denied);
  await run();
  expect(await run()).toEqual({ requeueAfterMs: 300_000 });
  time.ms = EMIT_AGAIN_AFTER - 1000;
  expect(await run()).toEqual({ requeueAfterMs: 1000 });
  expect(events).toEqual(['no grant']);
  time.ms = EMIT_AGAIN_AFTER;
  await run();
  expect(events).toEqual(['no grant', 'no grant']);
});

describe('the provisioning metric of a claim', () => {
  const bound = (uid: string) => ({
    ...claim(
      { volumeName: `pvc-${uid}` },
      { status: { phase: 'Bound', capacity: { storage: '1Ti' } } },
    ),
  });
  const OF = { storageClass: 'dynamic', source: 'snapshot', crossNamespace: false };

  test('counts each failed attempt, also one whose event was emitted before', async () => {
    const { run, ends, events } = world(() => denied);
    for (let count = 0; count < 3; count++) await run();
    expect(ends).toEqual([OF, OF, OF]);
    expect(events).toHaveLength(1);
  });

  test.each([
    ['a snapshot of another namespace', { ...snapshot, namespace: 'other' }, 'snapshot', true],
    ['its own namespace, written out', { ...snapshot, namespace: 'prod' }, 'snapshot', false],
    ['a link to any namespace', { ...snapshot, kind: 'VolumeSnapshotLink' }, 'link', false],
    [
      'a kind filled on the node',
      { apiGroup: 'stowage.dev', kind: 'Image', name: 'i', namespace: 'other' },
      'none',
      true,
    ],
  ])(
    'has crossNamespace if the reference names another namespace: %s',
    async (_, dataSourceRef, source, crossNamespace) => {
      const { state, run, ends } = world(() => denied);
      state.claim = claim({ dataSourceRef });
      await run();
      expect(ends).toEqual([{ ...OF, source, crossNamespace }]);
    },
  );

  test('counts a bound claim once, even if an earlier process created the Volume', async () => {
    const { state, run, ends, made, time } = world(() => ready('c'));
    await run();
    const next = world(() => ready('c'));
    next.made.push({
      ...(made[0] as Volume),
      metadata: {
        ...made[0]?.metadata,
        creationTimestamp: new Date(1000).toISOString(),
      } as Volume['metadata'],
    });
    next.time.ms = 3000;
    await next.run();
    next.state.claim = { ...bound(UID), metadata: state.claim.metadata };
    next.time.ms = 5000;
    await next.run();
    await next.run();
    expect(next.ends).toEqual([{ ...OF, ms: 4000 }]);
    expect(ends).toEqual([]);
    expect(time.ms).toBe(0);
  });
});

test('capacity for a Volume is reserved only while the Volume is created', async () => {
  const { run, made, reservations, promised } = world(() => ready('c'));
  await run();
  expect(promised).toEqual(made.map(({ metadata }) => metadata.name));
  expect(promised).toHaveLength(1);
  expect(reservations.on('n1')).toEqual([]);
});

test('capacity for an expansion is reserved only while the new size is written', async () => {
  const { state, run, made, reservations } = world(() => ready('c'));
  const bound = (has: string) =>
    claim(
      { volumeName: volume().metadata.name, resources: { requests: { storage: '3Gi' } } },
      { status: { phase: 'Bound', capacity: { storage: has } } },
    );
  state.claim = bound('2Gi');
  made.push(volume());
  const sizes: unknown[] = [];
  state.whilePatching = () => {
    sizes.push(...reservations.on('n1').map(({ spec }) => spec.sparseLoopDevice?.size));
    state.claim = bound('3Gi');
  };
  await run();
  expect(sizes).toEqual(['3Gi']);
  expect(reservations.on('n1')).toEqual([]);
});

test('a Volume refused for data in free extents is deleted, its claim rescheduled', async () => {
  const { state, run, made, events, effects, ends } = world(() => ({ is: 'none' }));
  state.claim = claim({}, { node: 'n1' });
  // The scheduler may select another node meanwhile.
  state.claim.metadata.resourceVersion = '7';
  state.storageClass = { ...waiting, parameters: { type: 'lvm', vgName: 'vg0' } };
  const volume = claimVolume(state.claim, options(state.storageClass), 'n1', undefined);
  const ready = {
    type: 'Ready',
    status: 'False',
    reason: 'FreeExtentsCarryData',
    message: 'x',
  } as const;
  made.push({
    ...volume,
    metadata: { ...volume.metadata, uid: 'v' },
    status: { phase: 'Failed', conditions: [ready] },
  });
  await run();
  expect(effects).toEqual([
    `refuse n1 ${2n * GIB}`,
    `delete pvc-${UID} {"uid":"v"}`,
    `patch data {"metadata":{"uid":"${UID}","resourceVersion":"7","annotations":{"volume.kubernetes.io/selected-node":null}}}`,
  ]);
  expect(events).toEqual([
    expect.stringContaining('free extents of volume group vg0 on node n1 contain data'),
  ]);
  expect(ends).toEqual([
    { storageClass: state.storageClass.metadata.name, source: 'none', crossNamespace: false },
  ]);
  // With a class that now consents, no refusal is recorded for the node.
  effects.length = 0;
  state.storageClass = {
    ...waiting,
    parameters: { type: 'lvm', vgName: 'vg0', overwriteFreeExtents: 'true' },
  };
  await run();
  expect(effects).toEqual([`delete pvc-${UID} {"uid":"v"}`]);
});

test.each<[string, Partial<Volume['status']>, string, number]>([
  ['failed counts as one failed attempt', { phase: 'Failed' }, 'MkfsFailed', 1],
  ['waits for its node counts as no attempt', { phase: 'Pending' }, 'NodeUnreachable', 0],
  ['waits for its source counts as no attempt', { phase: 'Pending' }, 'WaitingForSource', 0],
])('a Volume that %s, on repeated reconciles', async (_, status, reason, failures) => {
  const { state, run, made, events, ends, time } = world(() => ({ is: 'none' }));
  state.claim = claim({}, { node: 'n1' });
  const volume = claimVolume(state.claim, options(state.storageClass), 'n1', undefined);
  const ready = { type: 'Ready', status: 'False', reason, message: 'x' } as const;
  made.push({ ...volume, status: { ...status, conditions: [ready] } } as Volume);
  await run();
  time.ms += 1000;
  await run();
  expect({ events: events.length, failures: ends.length }).toEqual({ events: 1, failures });
});

test('the Volume of a larger claim is expanded by UID', async () => {
  const { state, run, made, effects } = world(() => ({ is: 'none' }));
  state.claim = claim(
    { volumeName: `pvc-${UID}`, resources: { requests: { storage: '3Gi' } } },
    { status: { phase: 'Bound', capacity: { storage: '2Gi' } } },
  );
  const current = volume();
  made.push({ ...current, metadata: { ...current.metadata, uid: 'v' } });
  state.whilePatching = () => {
    state.claim = claim({}, { deleted: true });
  };
  await run();
  expect(effects).toEqual([
    `patch pvc-${UID} {"metadata":{"uid":"v"},"spec":{"sparseLoopDevice":{"size":"3Gi"}}}`,
  ]);
});
