import { describe, expect, test } from '@jest/globals';
import type { KubeNode, PersistentVolumeClaim, StorageClass } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { createReservations } from '../../../src/controllers/lib/capacity/reservations.ts';
import type { ClaimReconcilerDeps } from '../../../src/controllers/provisioner/deps.ts';
import { createClaimReconciler } from '../../../src/controllers/provisioner/reconciler.ts';
import type { ClaimStart } from '../../../src/controllers/provisioner/types.ts';
import { claimVolume } from '../../../src/model/claim-volume.ts';
import { TELL_AGAIN } from '../../../src/workqueue/tell-again.ts';
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
      look: async () => {
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
    clock: { now: () => time.ms },
    logger: memoryLogger(),
    onProvisioned: (end: object) => ends.push(end),
  } as unknown as ClaimReconcilerDeps;
  const reconciler = createClaimReconciler(deps);
  const run = () => reconciler.reconcile(KEY, new AbortController().signal);
  return { ...reconciler, ends, time, state, made, reservations, promised, events, effects, run };
}

test('what a grant was withdrawn from while a node was looked at is not used', async () => {
  let granted = true;
  const { state, run, made, events } = world(() => (granted ? ready('c') : denied));
  state.whileLooking = () => {
    granted = false;
  };
  await run();
  expect(made).toEqual([]);
  expect(events).toEqual(['no grant']);
});

test('a claim that was made anew meanwhile starts from what it names itself', async () => {
  const { state, run, made } = world((of) => ready(of.metadata.uid ?? ''));
  state.whileLooking = () => {
    state.claim = { ...state.claim, metadata: { ...state.claim.metadata, uid: 'another' } };
  };
  await run();
  expect(made.map(({ spec }) => spec.source)).toEqual([{ snapshotContentName: 'another' }]);
});

test('and from nothing, where it names nothing', async () => {
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

test('what comes into being while it is read is asked for again', async () => {
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

test('what never settles is asked for a few times', async () => {
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

test('that there is no room is told once, however much there is not', async () => {
  const { state, run, events } = world(() => ({ is: 'none' }));
  state.claim = claim();
  state.freeBytes = 5n;
  await run();
  state.freeBytes = 6n;
  expect(await run()).toEqual({ requeueAfterMs: 30_000 });
  expect(events).toEqual([expect.stringContaining('has 5 bytes available')]);
});

test('what still holds is told again when its event is gone, and not before', async () => {
  const { time, run, events } = world(() => denied);
  await run();
  expect(await run()).toEqual({ requeueAfterMs: 300_000 });
  time.ms = TELL_AGAIN - 1000;
  expect(await run()).toEqual({ requeueAfterMs: 1000 });
  expect(events).toEqual(['no grant']);
  time.ms = TELL_AGAIN;
  await run();
  expect(events).toEqual(['no grant', 'no grant']);
});

describe('what is counted of a claim', () => {
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
    ['a link, wherever that leads', { ...snapshot, kind: 'VolumeSnapshotLink' }, 'link', false],
    [
      'a kind that a node fills from',
      { apiGroup: 'stowage.dev', kind: 'Image', name: 'i', namespace: 'other' },
      'none',
      true,
    ],
  ])(
    'is across namespaces by a reference that names one: %s',
    async (_, dataSourceRef, source, crossNamespace) => {
      const { state, run, ends } = world(() => denied);
      state.claim = claim({ dataSourceRef });
      await run();
      expect(ends).toEqual([{ ...OF, source, crossNamespace }]);
    },
  );

  test('is that it was bound, once, also where an earlier process created the Volume', async () => {
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

test('the room of a Volume is promised while it is created, and no longer', async () => {
  const { run, made, reservations, promised } = world(() => ready('c'));
  await run();
  expect(promised).toEqual(made.map(({ metadata }) => metadata.name));
  expect(promised).toHaveLength(1);
  expect(reservations.on('n1')).toEqual([]);
});

test('the room that a Volume grows by is promised while that is written, and no longer', async () => {
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

test('a Volume that was refused for what free extents carry is deleted, and its node given back', async () => {
  const { state, run, made, events, effects, ends } = world(() => ({ is: 'none' }));
  state.claim = claim({}, { node: 'n1' });
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
    `patch data {"metadata":{"uid":"${UID}","annotations":{"volume.kubernetes.io/selected-node":null}}}`,
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
  ['could not be made: one attempt that failed', { phase: 'Failed' }, 'MkfsFailed', 1],
  ['waits for its node: no attempt', { phase: 'Pending' }, 'NodeUnreachable', 0],
  ['waits for what it starts from: no attempt', { phase: 'Pending' }, 'WaitingForSource', 0],
])('a Volume that %s, however often it is looked at', async (_, status, reason, failures) => {
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
