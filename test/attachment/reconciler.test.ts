import { describe, expect, test } from '@jest/globals';
import type { KubeNode, Pod } from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { OUT_OF_SERVICE_TAINT } from '../../src/api/names.ts';
import { PODS } from '../../src/api/resources.ts';
import type { Prepared, Volume } from '../../src/api/volume.ts';
import type { Outcome, WhyNot } from '../../src/attachment/attacher.ts';
import { createAttachmentReconciler } from '../../src/attachment/reconciler.ts';
import type { Operation, OperationKind } from '../../src/attachment/types.ts';
import { createOperations } from '../../src/control/operations.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { Informer } from '../../src/kube/informer.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { NOW, podObject, use, volumeObject } from '../support/attachment-view.ts';
import { memoryLogger } from '../support/logger.ts';

/** Caches that are set by hand. */
function cache<T extends KubeObject>(...objects: T[]) {
  const byName = new Map(objects.map((object) => [object.metadata.name, object]));
  const learn = (object: T) => void byName.set(object.metadata.name, object);
  const drop = (name: string) => void byName.delete(name);
  return { get: (name: string) => byName.get(name), learn, drop } as unknown as Informer<T> & {
    drop: typeof drop;
  };
}

const node = (name: string, ready: boolean, ...taints: string[]): KubeNode =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }) as KubeNode;
const off = (name: string) => node(name, false, OUT_OF_SERVICE_TAINT);

/** A Volume on a directory that n1 and n2 share, and operations that end when they are told to. */
function world(since = '', ...needed: Pod[]) {
  const writes: string[] = [];
  const told: string[] = [];
  const volumes = cache(
    volumeObject(
      { attachPolicy: 'OnDemand', attachableNodes: ['n1', 'n2'] },
      {
        attachments: [
          // In the order in which an API server gives it back.
          {
            device: 'loop1',
            message: 'mounted',
            node: 'n1',
            pods: [],
            safeToDetach: false,
            safeToMount: true,
            since,
            state: 'Attached',
          },
        ],
      },
    ),
  );
  const nodes = cache(node('n1', true), node('n2', true));
  const forced: string[] = [];
  let ask = async () => {};
  const refusals: Error[] = [];
  let meanwhile = async () => {};
  interface Ran {
    operation: Operation;
    end(outcome: Outcome): void;
    whyNot: WhyNot;
    tell: (step: string) => void;
    signal: AbortSignal;
  }
  let running: Ran | undefined;
  const woken: (number | undefined)[] = [];
  const ranBy: string[] = [];
  let needs = 'n1';
  let now = NOW;
  const clock = { now: () => now, sleep: async () => {} };
  /** Of each kind of operation, as it is now. */
  const cap = { inAll: 9, perGroup: 9 };
  const client = {
    get: async (_: unknown, name: string) => {
      await ask();
      const found = nodes.get(name) ?? volumes.get(name);
      if (found !== undefined) return found;
      throw new ApiError(
        { apiVersion: 'v1', kind: 'Status', status: 'Failure', reason: 'NotFound' },
        404,
        'GET',
      );
    },
    patch: async ({ plural }: Resource, name: string, patch: { status?: object }) => {
      if (plural === PODS.plural) throw new Error('no pod may be written');
      const during = meanwhile;
      meanwhile = async () => {};
      await during();
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal;
      writes.push(JSON.stringify(patch.status));
      const volume = volumes.get(name) as Volume;
      return { ...volume, status: { ...volume.status, ...patch.status } };
    },
  } as unknown as KubeClient;
  const operations = createOperations<OperationKind>({
    clock,
    caps: { attach: cap, detach: cap, look: cap },
  });
  const reconciler = createAttachmentReconciler({
    client,
    volumes,
    nodes,
    persistentVolumes: cache(),
    storageClasses: cache(),
    pods: cache(),
    uses: {
      of: () => needed.map((pod) => ({ pod, use: use(pod.metadata.name, needs) })),
      volumesOf: () => ['u1'],
      namesOf: () => [],
      lives: () => false,
    },
    attacher: {
      run: (operation, { status }, signal, whyNot, tell) =>
        new Promise((resolve) => {
          ranBy.push(String(status?.prepared?.paths));
          running = { operation, end: resolve, whyNot, tell, signal };
        }),
    },
    operations,
    events: {
      event: ({ metadata }, _type, reason) => void told.push(`${metadata.name} ${reason}`),
      flush: async () => {},
    },
    clock,
    random: () => 0,
    logger: memoryLogger(),
    actsFor: (name) => name !== 'foreign',
    recordProblem: ({ status }) =>
      String(status?.prepared?.paths) === '/srv/u1' ? undefined : 'status.prepared names another file',
    maxWaitForUnmountMs: 360_000,
    pollIntervalMs: undefined,
    enqueue: (_name, afterMs) => void woken.push(afterMs),
    onForced: (reason) => forced.push(reason),
  });
  return {
    reconciler,
    nodes,
    volumes,
    cap,
    operations,
    forced,
    writes,
    /** The paths that each operation was begun with. */
    ranBy,
    told,
    /** The API server refuses the next writes of Volumes. */
    refuse: (...errors: Error[]) => void refusals.push(...errors),
    running: () => running?.operation,
    /** The operation that was begun last, whatever becomes of it. */
    ran: () => running as Ran,
    /** Each time that it was asked for to decide again, with the delay. */
    woken,
    pass(ms: number) {
      now += ms;
    },
    /** The API server takes its time to answer. */
    slow(work: () => Promise<void>) {
      ask = work;
    },
    /** Happens while the next write of a Volume is on its way. */
    whileWriting(work: () => Promise<void>) {
      meanwhile = work;
    },
    /** The pods are on that node from now on. */
    needOn(name: string) {
      needs = name;
    },
    /** Somebody writes into the Volume's record. */
    prepare(change: Partial<Prepared>) {
      const { spec, status } = volumes.get('v1') as Volume;
      const prepared = { ...volumeObject().status?.prepared, ...change } as Prepared;
      volumes.learn(volumeObject(spec, { ...status, prepared }));
    },
    /** Has the operation end that runs, which must be this one. */
    async end(kind: OperationKind, on: string, outcome: Outcome) {
      expect(running?.operation).toMatchObject({ kind, node: on });
      running?.end(outcome);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    },
    /** The operation asks whether it may go on. */
    whyNot: () => running?.whyNot(),
    entries: () => [...reconciler.known()][0]?.entries.map(({ node: on, state }) => `${on} ${state}`),
  };
}

const attached: Outcome = {
  is: 'attached',
  readOnly: false,
  safeToMount: true,
  device: 'loop1',
  message: undefined,
};

test('what an operation finds while it is asked whether another node is gone is not lost', async () => {
  const { reconciler, nodes, slow, end, entries } = world();
  await reconciler.reconcile('v1');
  await end('look', 'n1', attached);
  await reconciler.reconcile('v1');
  nodes.learn(off('n1'));
  slow(() => end('look', 'n2', attached));
  const done = reconciler.reconcile('v1');
  slow(async () => {});
  await done;
  expect(entries()?.[0]).toMatch(/^n2 /);
});

test('a node is let go of by force once, though an operation that ran there ends after that', async () => {
  const { reconciler, nodes, forced, end, whyNot, entries } = world();
  await reconciler.reconcile('v1');
  await end('look', 'n1', attached);
  await reconciler.reconcile('v1');
  await end('look', 'n2', { is: 'detached' });
  await reconciler.reconcile('v1');
  nodes.learn(off('n1'));
  await reconciler.reconcile('v1');
  expect(forced).toEqual(['out-of-service']);
  await whyNot();
  expect(entries()).toEqual([]);
  await end('detach', 'n1', { is: 'unknown', message: 'no answer' });
  await reconciler.reconcile('v1');
  expect(forced).toEqual(['out-of-service']);
  expect(entries()).toEqual([]);
  nodes.learn(node('n1', true));
  await reconciler.reconcile('v1');
  await end('look', 'n1', attached);
  expect(entries()).toEqual(['n1 Attached']);
});

test.each<[string, string, number]>([
  ['of another time before', '2026-02-03T04:05:06.000Z', 0],
  ['of a time to come', '2027-02-03T04:05:06.000Z', 1],
  ['of no time', 'x', 1],
])('what is shown as it is, but %s, is written only where that is wrong', async (_, since, times) => {
  const { reconciler, end, writes } = world(since);
  await reconciler.reconcile('v1');
  await end('look', 'n1', attached);
  await reconciler.reconcile('v1');
  await end('look', 'n2', { is: 'detached' });
  await reconciler.reconcile('v1');
  await end('detach', 'n1', { is: 'in-use', message: 'mounted' });
  writes.length = 0;
  await reconciler.reconcile('v1');
  await reconciler.reconcile('v1');
  expect(writes.length).toBe(times);
});

test.each<[string, Outcome, object]>([
  [
    'while it is there',
    { is: 'in-use', message: 'mounted' },
    { attachments: [expect.objectContaining({ node: 'n1', device: 'loop7' })], deviceName: 'loop7' },
  ],
  ['and gone with it', { is: 'detached' }, { attachments: [], deviceName: null }],
])('the device is told for its node, and for the Volume in the same write: %s', async (_, outcome, told) => {
  const { reconciler, end, writes } = world();
  await reconciler.reconcile('v1');
  await end('look', 'n1', { ...attached, device: 'loop7' });
  await reconciler.reconcile('v1');
  await end('look', 'n2', { is: 'detached' });
  await reconciler.reconcile('v1');
  await end('detach', 'n1', outcome);
  await reconciler.reconcile('v1');
  expect(writes.map((each) => JSON.parse(each))).toEqual([told]);
});

test('a pod is told by an event also where its condition cannot be written', async () => {
  const { reconciler, end, told } = world('', podObject({}, {}, { name: 'p1' }));
  await reconciler.reconcile('v1');
  await end('look', 'n1', attached);
  await reconciler.reconcile('v1');
  await end('look', 'n2', { is: 'detached' });
  await expect(reconciler.reconcile('v1')).rejects.toThrow('no pod may be written');
  expect(told).toEqual(['p1 SuccessfulAttachVolume']);
});

test('a Volume of which nothing is to be done is decided about again after minutes', async () => {
  const { reconciler, end, writes } = world();
  await reconciler.reconcile('v1');
  await end('look', 'n1', { is: 'detached' });
  await reconciler.reconcile('v1');
  await end('look', 'n2', { is: 'detached' });
  await reconciler.reconcile('v1');
  writes.length = 0;
  expect(await reconciler.reconcile('v1')).toEqual({ requeueAfterMs: 300_000 });
  expect(writes).toEqual([]);
  expect(await reconciler.reconcile('nobody')).toBeUndefined();
});

describe('the record of an attach to one node of several', () => {
  const refusal = (code: number) =>
    new ApiError({ apiVersion: 'v1', kind: 'Status', status: 'Failure' }, code, 'PATCH');
  const begun = async () => {
    const of = world('', podObject({}, {}, { name: 'p1' }));
    await of.reconciler.reconcile('v1');
    await of.end('look', 'n1', { is: 'detached' });
    await of.reconciler.reconcile('v1');
    await of.end('look', 'n2', { is: 'detached' });
    await of.reconciler.reconcile('v1');
    expect(of.running()).toMatchObject({ kind: 'attach', node: 'n1' });
    return of;
  };

  test('is written right before the job, and not while the node is only looked at', async () => {
    const { reconciler, whyNot, writes, pass, entries } = await begun();
    pass(3000);
    await reconciler.reconcile('v1').catch(() => {});
    expect(entries()).toEqual(['n1 Attaching']);
    expect(writes.filter((each) => each.includes('Attaching'))).toEqual([]);
    expect(await whyNot()).toBeUndefined();
    expect(writes.map((each) => JSON.parse(each).attachments).at(-1)).toEqual([
      expect.objectContaining({ node: 'n1', state: 'Attaching' }),
    ]);
    const { length } = writes;
    await reconciler.reconcile('v1').catch(() => {});
    expect(writes).toHaveLength(length);
  });

  test('is written again where someone else wrote first', async () => {
    const { refuse, whyNot, writes } = await begun();
    refuse(refusal(409));
    expect(await whyNot()).toBeUndefined();
    expect(JSON.parse(writes.at(-1) ?? '').attachments).toHaveLength(1);
  });

  test('keeps the job from being submitted where it can not be written', async () => {
    const { refuse, whyNot } = await begun();
    refuse(refusal(403));
    expect(await whyNot()).toMatch(/^that it is being attached could not be written down: /);
  });

  test.each<[string, (of: Awaited<ReturnType<typeof begun>>) => void, RegExp]>([
    [
      'deleted',
      ({ volumes }) => {
        const { spec, status } = volumes.get('v1') as Volume;
        volumes.learn(volumeObject(spec, status, { deletionTimestamp: '2026-03-01T12:00:00Z' }));
      },
      /^the Volume v1 is being deleted$/,
    ],
    [
      'let go of on its node',
      ({ nodes }) => nodes.learn(off('n1')),
      /^it was let go of on node n1 meanwhile$/,
    ],
  ])('is no leave for a job where the Volume is %s while it is written', async (_, change, why) => {
    const of = await begun();
    of.whileWriting(async () => {
      change(of);
      await of.reconciler.reconcile('v1').catch(() => {});
    });
    expect(await of.whyNot()).toMatch(why);
  });

  test('is not made of a node that was let go of meanwhile', async () => {
    const { reconciler, nodes, whyNot, forced } = await begun();
    nodes.learn(off('n1'));
    await reconciler.reconcile('v1').catch(() => {});
    expect(forced).toEqual(['out-of-service']);
    expect(await whyNot()).toBe('it was let go of on node n1 meanwhile');
  });

  test('is not made at all by tries that never come to a job', async () => {
    const { reconciler, end, pass, running, writes } = await begun();
    await reconciler.reconcile('v1').catch(() => {});
    writes.length = 0;
    let tries = 0;
    for (let second = 0; second < 1800; second++) {
      if (running()?.kind === 'attach' && second % 10 === 0) {
        await end('attach', 'n1', { is: 'unknown', message: 'n1 is silent', nothingDone: true });
        tries++;
      } else if (running()?.kind === 'look')
        await end('look', 'n1', { is: 'unknown', message: 'n1 is silent' });
      pass(1000);
      await reconciler.reconcile('v1').catch(() => {});
    }
    expect(tries).toBeGreaterThan(10);
    expect(writes.filter((each) => each.includes('"node"'))).toEqual([]);
  });
});

test('what was in use is at ease once a pod needs it there again', async () => {
  const { reconciler, end, pass, needOn, writes } = world('', podObject({}, {}, { name: 'p1' }));
  needOn('nowhere');
  await reconciler.reconcile('v1').catch(() => {});
  await end('look', 'n1', attached);
  await reconciler.reconcile('v1').catch(() => {});
  await end('look', 'n2', { is: 'detached' });
  await reconciler.reconcile('v1').catch(() => {});
  await end('detach', 'n1', { is: 'in-use', message: 'mounted' });
  await reconciler.reconcile('v1').catch(() => {});
  const shown = () => JSON.parse(writes.at(-1) ?? '').attachments;
  expect(shown()).toEqual([expect.objectContaining({ node: 'n1', message: 'mounted' })]);
  needOn('n1');
  pass(100);
  await reconciler.reconcile('v1').catch(() => {});
  expect(shown()).toEqual([expect.not.objectContaining({ message: expect.anything() })]);
  // It is tried at once the next time.
  expect([...reconciler.known()].map(({ failures }) => [...failures.keys()])).toEqual([[]]);
});

describe('an attachment that somebody takes out of the status', () => {
  const taken = async () => {
    const of = world();
    await of.reconciler.reconcile('v1');
    await of.end('look', 'n1', attached);
    await of.reconciler.reconcile('v1');
    await of.end('look', 'n2', { is: 'detached' });
    await of.reconciler.reconcile('v1');
    await of.end('detach', 'n1', { is: 'in-use', message: 'mounted' });
    await of.reconciler.reconcile('v1');
    const { spec, status } = of.volumes.get('v1') as Volume;
    of.volumes.learn(volumeObject({ ...spec }, { ...status, attachments: [] }));
    return of;
  };

  test('is let go of where the node is gone, and counted', async () => {
    const { reconciler, nodes, forced, entries } = await taken();
    nodes.drop('n1');
    await reconciler.reconcile('v1');
    expect(entries()).toEqual([]);
    expect(forced).toEqual(['ordered']);
  });

  test('is let go of once, though it is found there after that', async () => {
    const { reconciler, nodes, forced, entries, end, volumes } = await taken();
    const { spec, status } = volumes.get('v1') as Volume;
    volumes.learn(volumeObject({ ...spec, attachableNodes: undefined }, status));
    nodes.learn(node('n1', false));
    await reconciler.reconcile('v1');
    expect(forced).toEqual(['ordered']);
    await end('look', 'n1', attached);
    await reconciler.reconcile('v1');
    expect(entries()).toEqual(['n1 Attached']);
    expect(forced).toEqual(['ordered']);
  });

  test('is not where the cache alone has it so', async () => {
    const { reconciler, nodes, forced, entries, slow } = await taken();
    nodes.drop('n1');
    slow(async () => nodes.learn(node('n1', true)));
    await reconciler.reconcile('v1');
    expect(entries()?.[0]).toMatch(/^n1 /);
    expect(forced).toEqual([]);
  });
});

test('what is in use is tried to be detached again and again without a write each time', async () => {
  const { reconciler, end, pass, writes } = world();
  await reconciler.reconcile('v1');
  await end('look', 'n1', attached);
  await reconciler.reconcile('v1');
  await end('look', 'n2', { is: 'detached' });
  const tryOnce = async () => {
    await reconciler.reconcile('v1');
    pass(3000);
    await reconciler.reconcile('v1');
    await end('detach', 'n1', { is: 'in-use', message: 'mounted' });
    await reconciler.reconcile('v1');
    pass(10_000);
  };
  await tryOnce();
  expect(writes.map((each) => JSON.parse(each).attachments[0].state)).toEqual(['Detaching', 'Attached']);
  writes.length = 0;
  await tryOnce();
  await tryOnce();
  expect(writes).toEqual([]);
});

describe('an attach to a node of which nothing is known, that does not answer', () => {
  const nothing: Outcome = { is: 'unknown', message: 'n1 refuses the key', nothingDone: true };

  test.each<[string, Outcome, string]>([
    ['does not, where nothing was done', nothing, 'n2 Attaching'],
    ['does, where a job may have been submitted', { ...nothing, nothingDone: false }, 'n1 Uncertain'],
  ])('keeps it from a pod on another node: %s', async (_, outcome, entry) => {
    const { reconciler, end, pass, entries, needOn } = world('', podObject({}, {}, { name: 'p1' }));
    await reconciler.reconcile('v1');
    await end('look', 'n1', { is: 'detached' });
    await reconciler.reconcile('v1');
    await end('look', 'n2', { is: 'detached' });
    await reconciler.reconcile('v1');
    expect(entries()).toEqual(['n1 Attaching']);
    await end('attach', 'n1', outcome);
    needOn('n2');
    pass(1);
    // The pod is told, if it waits.
    await reconciler.reconcile('v1').catch(() => {});
    expect(entries()).toEqual([entry]);
  });

  test('keeps it, where an earlier process recorded it', async () => {
    const { reconciler, end, entries, needOn } = world('', podObject({}, {}, { name: 'p1' }));
    needOn('n2');
    await reconciler.reconcile('v1');
    await end('look', 'n1', nothing);
    await reconciler.reconcile('v1');
    await end('look', 'n2', { is: 'detached' });
    await reconciler.reconcile('v1').catch(() => {});
    expect(entries()).toEqual(['n1 Uncertain']);
  });
});

describe('a record that Stowage never wrote', () => {
  const forged = { node: 'n9', paths: ['/srv/of-another'] };

  test('has no node looked at, and nothing detached, and the pod is told; put right, all goes on', async () => {
    const { reconciler, end, prepare, running, told, entries, ranBy, needOn } = world(
      '',
      podObject({}, {}, { name: 'p1' }),
    );
    prepare(forged);
    needOn('n2');
    await reconciler.reconcile('v1').catch(() => {});
    expect(running()).toBeUndefined();
    expect(entries()).toEqual(['n1 Uncertain']);
    expect(told).toEqual(['p1 FailedAttachVolume']);
    prepare({});
    await reconciler.reconcile('v1');
    await end('look', 'n1', attached);
    await reconciler.reconcile('v1');
    expect(running()).toMatchObject({ kind: 'look', node: 'n2' });
    expect(ranBy).toEqual(['/srv/u1', '/srv/u1']);
  });

  test('has its node not looked at either once it is put right', async () => {
    const { reconciler, end, prepare, volumes, nodes, running } = world();
    const { spec, status } = volumes.get('v1') as Volume;
    volumes.learn(volumeObject({ ...spec, attachableNodes: undefined }, status));
    nodes.learn(node('n9', true));
    prepare(forged);
    await reconciler.reconcile('v1');
    prepare({});
    await reconciler.reconcile('v1');
    await end('look', 'n1', { is: 'detached' });
    await reconciler.reconcile('v1');
    expect(running()).toMatchObject({ kind: 'look', node: 'n1' });
  });

  test('is not what is let go of by when the Volume is gone', async () => {
    const { reconciler, end, prepare, volumes, ranBy } = world();
    await reconciler.reconcile('v1');
    await end('look', 'n1', attached);
    prepare(forged);
    await reconciler.reconcile('v1');
    expect(ranBy).toEqual(['/srv/u1']);
    volumes.drop('v1');
    await reconciler.reconcile('v1');
    await end('look', 'n2', { is: 'detached' });
    await reconciler.reconcile('v1');
    await end('detach', 'n1', { is: 'detached' });
    expect(ranBy).toEqual(['/srv/u1', '/srv/u1', '/srv/u1']);
  });

  test('that was never another one has nothing let go of when the Volume is gone', async () => {
    const { reconciler, prepare, volumes, ranBy } = world();
    prepare(forged);
    await reconciler.reconcile('v1');
    volumes.drop('v1');
    await reconciler.reconcile('v1');
    expect(ranBy).toEqual([]);
    expect([...reconciler.known()]).toEqual([]);
  });

  test('does not say which process has hands on its nodes', async () => {
    const { reconciler, prepare, volumes } = world();
    const { spec, status } = volumes.get('v1') as Volume;
    volumes.learn(volumeObject({ ...spec, nodeName: 'foreign', attachableNodes: undefined }, status));
    prepare(forged);
    await reconciler.reconcile('v1');
    expect([...reconciler.known()]).toEqual([]);
  });
});

describe('a Volume moves', () => {
  /** @param places for operations, once all nodes were looked at */
  async function detaching(places = 9) {
    const all = world();
    const { reconciler, volumes, needOn, end, running, cap } = all;
    const isMoving = (on: string) => reconciler.isMoving(volumes.get('v1') as Volume, on);
    needOn('nowhere');
    expect(isMoving('n1')).toBe(false);
    await reconciler.reconcile('v1');
    while (running()?.kind === 'look') {
      expect(isMoving('n1')).toBe(false);
      const on = running()?.node ?? '';
      await end('look', on, on === 'n1' ? attached : { is: 'detached' });
      if (on === 'n2') cap.inAll = places;
      await reconciler.reconcile('v1');
      if (on === 'n2') break;
    }
    return { ...all, isMoving };
  }

  test('on a node from the beginning of a detach until its status tells of the end, and not while it is looked at', async () => {
    const { reconciler, volumes, end, isMoving, running } = await detaching();
    expect(running()).toMatchObject({ kind: 'detach', node: 'n1' });
    expect([isMoving('n1'), isMoving('n2')]).toEqual([true, false]);
    await end('detach', 'n1', { is: 'detached' });
    expect([isMoving('n1'), isMoving('n2')]).toEqual([true, false]);
    await reconciler.reconcile('v1');
    expect(volumes.get('v1')?.status?.attachments).toEqual([]);
    expect(isMoving('n1')).toBe(false);
  });

  test('not while the detach waits for a place', async () => {
    const { isMoving, entries } = await detaching(0);
    expect(entries()).toEqual(['n1 Detaching']);
    expect(isMoving('n1')).toBe(false);
  });

  test('no longer once that hangs', async () => {
    const { pass, isMoving } = await detaching();
    pass(59_999);
    expect(isMoving('n1')).toBe(true);
    pass(1);
    expect(isMoving('n1')).toBe(false);
  });
});

describe('an operation on a node that is let go of', () => {
  /** A detach from n1 is under way. */
  const begun = async (prepare: (of: ReturnType<typeof world>) => void = () => {}) => {
    const of = world('', podObject({}, {}, { name: 'p1' }));
    of.needOn('nowhere');
    const decide = () => of.reconciler.reconcile('v1').catch(() => {});
    await decide();
    await of.end('look', 'n1', attached);
    await decide();
    await of.end('look', 'n2', { is: 'detached' });
    prepare(of);
    await decide();
    return { ...of, decide };
  };

  test('is given up: the volume goes on to where it is needed, whatever the job does there', async () => {
    const { nodes, decide, needOn, ran, running, forced, entries, whyNot } = await begun();
    expect(running()).toMatchObject({ kind: 'detach', node: 'n1' });
    const detach = ran();
    nodes.learn(off('n1'));
    needOn('n2');
    await decide();
    expect(forced).toEqual(['out-of-service']);
    expect(detach.signal.aborted).toBe(true);
    expect(running()).toMatchObject({ kind: 'attach', node: 'n2' });
    expect(await detach.whyNot()).toBe('it was let go of on node n1 meanwhile');
    expect(await whyNot()).toBeUndefined();
    // What it finds in the end is nothing to the other one; the node is looked at when it is back.
    detach.end(attached);
    await decide();
    expect(entries()).toEqual(['n2 Attaching']);
    ran().end(attached);
    await decide();
    nodes.learn(node('n1', true));
    await decide();
    expect(running()).toMatchObject({ kind: 'look', node: 'n1' });
  });

  test('is given up where it only waits for its place', async () => {
    const { nodes, decide, needOn, running, cap } = await begun(({ cap: places }) => {
      places.inAll = 0;
    });
    expect(running()).toMatchObject({ kind: 'look' });
    nodes.learn(off('n1'));
    needOn('n2');
    cap.inAll = 9;
    await decide();
    expect(running()).toMatchObject({ kind: 'attach', node: 'n2' });
  });

  test('is given up where an operator takes the attachment out of the status', async () => {
    const { nodes, decide, needOn, ran, running, forced, pass, volumes } = await begun();
    const detach = ran();
    pass(2000);
    await decide();
    const { spec, status } = volumes.get('v1') as Volume;
    nodes.drop('n1');
    volumes.learn(volumeObject(spec, { ...status, attachments: [] }));
    needOn('n2');
    await decide();
    expect(forced).toEqual(['ordered']);
    expect(detach.signal.aborted).toBe(true);
    expect(running()).toMatchObject({ kind: 'attach', node: 'n2' });
  });

  test('has the node looked at once more where it ends after that was back', async () => {
    const { nodes, decide, ran, ranBy, running, end } = await begun();
    const detach = ran();
    nodes.learn(off('n1'));
    await decide();
    nodes.learn(node('n1', true));
    await decide();
    await end('look', 'n1', { is: 'detached' });
    await decide();
    ranBy.length = 0;
    detach.end({ is: 'detached' });
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    await decide();
    expect(ranBy).toHaveLength(1);
    expect(running()).toMatchObject({ kind: 'look', node: 'n1' });
  });

  test('has no say in what is found on the node after that', async () => {
    const { nodes, decide, needOn, ran, end, reconciler, pass } = await begun();
    const detach = ran();
    nodes.learn(off('n1'));
    await decide();
    nodes.learn(node('n1', true));
    needOn('n1');
    await decide();
    await end('attach', 'n1', attached);
    expect(await detach.whyNot()).toBe('it was let go of on node n1 meanwhile');
    pass(20_000);
    detach.tell('sync');
    const entry = { node: 'n1', safeToDetach: false, message: undefined };
    expect([...reconciler.known()][0]?.entries).toMatchObject([entry]);
  });

  test('submits no job where it is let go of while it asks', async () => {
    const { nodes, decide, ran, slow } = await begun();
    const detach = ran();
    slow(async () => {
      slow(async () => {});
      nodes.learn(off('n1'));
      await decide();
    });
    expect(await detach.whyNot()).toBe('it was let go of on node n1 meanwhile');
  });
});

describe('an operation that takes long', () => {
  const detaching = async (prepare: (of: ReturnType<typeof world>) => void = () => {}) => {
    const of = world();
    await of.reconciler.reconcile('v1');
    await of.end('look', 'n1', attached);
    await of.reconciler.reconcile('v1');
    await of.end('look', 'n2', { is: 'detached' });
    prepare(of);
    await of.reconciler.reconcile('v1');
    const shown = () => JSON.parse(of.writes.at(-1) ?? '').attachments;
    return { ...of, shown };
  };

  test('shows the step that its job is at, after some seconds', async () => {
    const { reconciler, pass, ran, shown, woken, end } = await detaching();
    pass(9999);
    ran().tell('write back');
    await reconciler.reconcile('v1');
    expect(shown()).toEqual([expect.not.objectContaining({ message: expect.anything() })]);
    pass(1);
    woken.length = 0;
    ran().tell('write back');
    ran().tell('write back');
    expect(woken).toEqual([undefined]);
    await reconciler.reconcile('v1');
    const message = 'its job is under way: write back';
    expect(shown()).toEqual([expect.objectContaining({ state: 'Detaching', message })]);
    await end('detach', 'n1', { is: 'detached' });
    await reconciler.reconcile('v1');
    expect(shown()).toEqual([]);
  });

  test('shows that it waits for a place, until it has one', async () => {
    const { reconciler, pass, cap, shown, operations } = await detaching((of) => {
      of.cap.inAll = 0;
    });
    pass(1000);
    expect(await reconciler.reconcile('v1')).toEqual({ requeueAfterMs: 9000 });
    pass(9000);
    await reconciler.reconcile('v1');
    const message = 'waits until others have ended';
    expect(shown()).toEqual([expect.objectContaining({ state: 'Detaching', message })]);
    cap.inAll = 9;
    operations.start('v9', 'detach', 'n9', async () => true);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    await reconciler.reconcile('v1');
    expect(shown()).toEqual([expect.not.objectContaining({ message: expect.anything() })]);
  });
});

describe('a look', () => {
  const begun = async (places: number) => {
    const of = world();
    of.cap.inAll = places;
    const first = await of.reconciler.reconcile('v1');
    const states = () => of.writes.map((each) => JSON.parse(each).attachments[0].state);
    return { ...of, first, states };
  };

  test('is not shown while it waits for its place, unless that takes a minute', async () => {
    const { first, reconciler, pass, states } = await begun(0);
    expect(first).toEqual({ requeueAfterMs: 60_000 });
    pass(59_999);
    expect(await reconciler.reconcile('v1')).toEqual({ requeueAfterMs: 1 });
    expect(states()).toEqual([]);
    pass(1);
    await reconciler.reconcile('v1');
    expect(states()).toEqual(['Uncertain']);
  });

  test('is shown a second after it got its place, for which it waited', async () => {
    const { reconciler, cap, operations, pass, states, woken } = await begun(0);
    pass(30_000);
    cap.inAll = 9;
    operations.start('v9', 'look', 'n9', async () => true);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    expect(woken).toEqual([1000]);
    pass(999);
    expect(await reconciler.reconcile('v1')).toEqual({ requeueAfterMs: 1 });
    expect(states()).toEqual([]);
    pass(1);
    await reconciler.reconcile('v1');
    expect(states()).toEqual(['Uncertain']);
  });

  test('that has a place at once is shown after a second', async () => {
    const { first, reconciler, pass, states, woken } = await begun(9);
    expect(first).toEqual({ requeueAfterMs: 1000 });
    expect(woken).toEqual([]);
    pass(1000);
    await reconciler.reconcile('v1');
    expect(states()).toEqual(['Uncertain']);
  });
});

describe('an operation that cannot begin', () => {
  /** A detach from n1 is next, once the look at n2 that is under way has ended. */
  const last = async () => {
    const of = world();
    await of.reconciler.reconcile('v1');
    await of.end('look', 'n1', attached);
    await of.reconciler.reconcile('v1');
    expect(of.running()).toMatchObject({ kind: 'look', node: 'n2' });
    return of;
  };

  // Between the end that is known here and that in the table of operations.
  test.each([0, 1, 2, 3, 4, 5, 6])('for the one before has just ended, by %i turns', async (turns) => {
    const { reconciler, ran, entries, operations } = await last();
    ran().end({ is: 'detached' });
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await reconciler.reconcile('v1');
    expect(entries()).toEqual([operations.of('u1')?.kind === 'detach' ? 'n1 Detaching' : 'n1 Attached']);
    await reconciler.reconcile('v1');
    expect(operations.of('u1')?.kind).toBe('detach');
  });

  test('for all are stopped leaves what is known as it was', async () => {
    const { reconciler, end, entries, operations } = await last();
    await end('look', 'n2', { is: 'detached' });
    await operations.stop(0, async () => {});
    expect(await reconciler.reconcile('v1')).toEqual({ requeueAfterMs: 1000 });
    expect(entries()).toEqual(['n1 Attached']);
  });
});

describe('a node that does not answer, though each try is told in other words', () => {
  /** Ends whatever is under way for an hour, once n1 was looked at for the first time. */
  async function anHour(first: Outcome) {
    const { reconciler, operations, end, pass, running, writes, told } = world(
      '',
      podObject({}, {}, { name: 'p1' }),
    );
    const decide = () => reconciler.reconcile('v1').catch(() => {});
    await decide();
    await end('look', 'n1', first);
    await decide();
    await end('look', 'n2', { is: 'detached' });
    let tries = 0;
    for (let second = 0; second < 3600; second++) {
      await decide();
      const { kind = 'look' } = running() ?? {};
      if (operations.of('u1') !== undefined) {
        const message = `n1: ${tries++ % 2 === 0 ? 'Connection timed out' : 'No route to host'}`;
        await end(kind, 'n1', { is: 'unknown', message, nothingDone: true, silent: true });
      }
      pass(1000);
    }
    expect(tries).toBeGreaterThan(30);
    return { writes: writes.filter((each) => each.includes('n1: ')), told };
  }

  test('has what is recorded there written once in ten minutes at most', async () => {
    const { writes } = await anHour({ is: 'unknown', message: 'n1: away', silent: true });
    expect(writes.length).toBeGreaterThan(1);
    expect(writes.length).toBeLessThanOrEqual(6);
  });

  test('has its pod told once in ten minutes at most why it waits', async () => {
    const { told } = await anHour({ is: 'detached' });
    expect(new Set(told)).toEqual(new Set(['p1 FailedAttachVolume']));
    expect(told.length).toBeLessThanOrEqual(6);
  });
});

test('what is due is decided in its time also where a pod cannot be written', async () => {
  const { reconciler, end, needOn, woken } = world('', podObject({}, {}, { name: 'p1' }));
  needOn('nowhere');
  await reconciler.reconcile('v1').catch(() => {});
  await end('look', 'n1', attached);
  await reconciler.reconcile('v1').catch(() => {});
  await end('look', 'n2', { is: 'detached' });
  await reconciler.reconcile('v1').catch(() => {});
  await end('detach', 'n1', { is: 'in-use', message: 'mounted' });
  woken.length = 0;
  await expect(reconciler.reconcile('v1')).rejects.toThrow('no pod may be written');
  // The delay after the first detach that failed.
  expect(woken).toEqual([500]);
});
