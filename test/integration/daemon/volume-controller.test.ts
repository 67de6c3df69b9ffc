import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { StorageClass } from '../../../src/api/core.ts';
import { CRDS, VOLUME_CRD } from '../../../src/api/crds.ts';
import type { Leftover } from '../../../src/api/leftover.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { PROTECTION_FINALIZER } from '../../../src/api/names.ts';
import {
  LEFTOVERS,
  NODES,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { Condition, Volume, VolumeStatus } from '../../../src/api/volume.ts';
import { connect } from '../../../src/kube/connect.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient, ListOptions } from '../../../src/kube/types.ts';
import type { Executor } from '../../../src/nodes/job.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { createNode } from '../../support/claim-objects.ts';
import { sparseVolume } from '../../support/cluster.ts';
import {
  startController,
  type TestController,
  type TestControllerOptions,
} from '../../support/controller.ts';
import { prepared } from '../../support/decisions.ts';
import type { TestClock } from '../../support/idle.ts';
import { until } from '../../support/until.ts';
import { UID } from '../../support/volume-input.ts';
import { type WorkingNodes, workingNodes } from '../../support/working-nodes.ts';

const PAUSED = 'stowage.dev/paused';

let sandbox: Sandbox;
let client: KubeClient;
let controller: TestController;
let folder = '';

async function start(
  crds: readonly object[],
  seenBy = (real: KubeClient) => real,
  options: TestControllerOptions = {},
): Promise<void> {
  sandbox = await startSandbox({ crds: crds as never });
  folder = await mkdtemp(join(tmpdir(), 'stowage-controller-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig);
  ({ client } = await connect({ kubeconfig }));
  const storageClass: StorageClass = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local' },
    provisioner: 'kubernetes.io/no-provisioner',
  };
  await client.create(STORAGE_CLASSES, storageClass);
  await createNode(client, 'n1');
  controller = await startController(seenBy(client), options);
}

afterEach(async () => {
  await controller.stop();
  await sandbox.stop();
  await rm(folder, { recursive: true });
});

const conditionOf = async (name: string, type: string): Promise<Condition | undefined> =>
  (await client.get<Volume>(VOLUMES, name)).status?.conditions?.find((each) => each.type === type);
const annotate = (
  resource: typeof VOLUMES,
  name: string,
  annotations: Record<string, string | null>,
) => client.patch(resource, name, { metadata: { annotations } });
const isPaused = (name: string, status: string) =>
  until(`${name} has Paused=${status}`, async () =>
    (await conditionOf(name, 'Paused'))?.status === status ? true : undefined,
  );
const goesOn = (name: string) =>
  until(`${name} is reconciled`, async () =>
    (await conditionOf(name, 'Ready'))?.reason === 'NodeUnreachable' ? true : undefined,
  );

describe('the annotation stowage.dev/paused', () => {
  beforeEach(() => start(CRDS));

  test('pauses a Volume until it is removed', async () => {
    const volume = sparseVolume('a', 'n1', '32Mi');
    volume.metadata.annotations = { [PAUSED]: 'true' };
    await client.create(VOLUMES, volume);
    await isPaused('a', 'True');
    expect(controller.asked).toEqual([]);
    await annotate(VOLUMES, 'a', { [PAUSED]: null });
    await goesOn('a');
    expect(await conditionOf('a', 'Paused')).toMatchObject({ status: 'False' });
  });

  test('pauses all Volumes of a Node, and no others, until it is removed', async () => {
    await annotate(NODES, 'n1', { [PAUSED]: 'true' });
    await until('the daemon knows the pause', async () =>
      controller.nodes.get('n1')?.metadata.annotations?.[PAUSED] ? true : undefined,
    );
    await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
    await client.create(VOLUMES, sparseVolume('b', 'n2', '32Mi'));
    await isPaused('a', 'True');
    await goesOn('b');
    expect(controller.asked.filter((call) => call.endsWith(' n1'))).toEqual([]);
    expect(await conditionOf('b', 'Paused')).toBeUndefined();
    await annotate(NODES, 'n1', { [PAUSED]: 'false' });
    await goesOn('a');
    await annotate(NODES, 'n1', { [PAUSED]: 'again' });
    await isPaused('a', 'True');
    // A deleted Node has no pause annotation.
    await client.delete(NODES, 'n1');
    await isPaused('a', 'False');
  });
});

test('a storage class missing in the cache is read before it is reported missing', async () => {
  const behind = (real: KubeClient): KubeClient => ({
    ...real,
    list: async <T extends KubeObject>(resource: Resource, options?: ListOptions) => {
      const page = await real.list<T>(resource, options);
      return resource === STORAGE_CLASSES ? { ...page, items: [] } : page;
    },
  });
  await start(CRDS, behind);
  await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
  await goesOn('a');
  const missing = sparseVolume('b', 'n1', '32Mi');
  await client.create(VOLUMES, { ...missing, spec: { ...missing.spec, storageClassName: 'none' } });
  const message = await until('b has failed', async () => {
    const { status } = await client.get<Volume>(VOLUMES, 'b');
    return status?.phase === 'Failed' ? status.conditions?.[0]?.message : undefined;
  });
  expect(message).toContain('the storage class none does not exist');
});

test('a Volume whose status was reset by an API server restore is reconciled again', async () => {
  let broken = new AbortController();
  let restored: Volume | undefined;
  const patched: string[] = [];
  const restorable = (real: KubeClient): KubeClient => ({
    ...real,
    list: async <T extends KubeObject>(resource: Resource, options?: ListOptions) => {
      const page = await real.list<T>(resource, options);
      if (resource !== VOLUMES || restored === undefined) return page;
      return { ...page, items: [restored as unknown as T] };
    },
    watch: (resource, options) =>
      real.watch(resource, {
        ...options,
        signal: AbortSignal.any([options.signal, broken.signal].flatMap((each) => each ?? [])),
      }),
    patch: (resource, name, ...rest) => {
      patched.push(name);
      return real.patch(resource, name, ...rest);
    },
  });
  await start(CRDS, restorable);
  const made = sparseVolume('a', 'n1', '32Mi');
  await client.create(VOLUMES, { ...made, spec: { ...made.spec, storageClassName: 'none' } });
  const failed = await until('a has failed', async () => {
    const volume = await client.get<Volume>(VOLUMES, 'a');
    return volume.status?.phase === 'Failed' ? volume : undefined;
  });
  const { status: _, ...before } = failed;
  restored = { ...before, metadata: { ...failed.metadata, resourceVersion: '1' } };
  patched.splice(0);
  const connection = broken;
  broken = new AbortController();
  connection.abort(new Error('the connection broke'));
  await until('the Volume is reconciled', async () => patched.includes('a') || undefined);
});

test('a Volume that exists only in the cache gets no PersistentVolume', async () => {
  let reads = 0;
  const stale = (real: KubeClient): KubeClient => ({
    ...real,
    list: async <T extends KubeObject>(resource: Resource, options?: ListOptions) => {
      const page = await real.list<T>(resource, options);
      if (resource !== VOLUMES) return page;
      const { spec, ...rest } = sparseVolume('a', 'n1', '32Mi');
      const ghost: Volume = {
        // Without a file system, nothing is read from the node before.
        ...{ ...rest, spec: { ...spec, mode: 'Block' } },
        metadata: { name: 'a', uid: UID, resourceVersion: '1', finalizers: [PROTECTION_FINALIZER] },
        status: { phase: 'Available', job: 'PrepareVolume/DONE', prepared },
      };
      return { ...page, items: [ghost as unknown as T] };
    },
    get: async (resource, name) => {
      if (resource === VOLUMES) reads += 1;
      return real.get(resource, name);
    },
  });
  await start(CRDS, stale);
  await until('the Volume is read again', async () => reads > 1 || undefined);
  expect((await client.list(PERSISTENT_VOLUMES)).items).toEqual([]);
});

test('a forbidden PersistentVolume is retried, and does not fail its Volume', async () => {
  const message = 'User "stowage" cannot create resource "persistentvolumes"';
  let allowed = false;
  const refusing = (real: KubeClient): KubeClient => ({
    ...real,
    create: (resource, ...rest) => {
      if (resource !== PERSISTENT_VOLUMES || allowed) return real.create(resource, ...rest);
      throw new ApiError(
        { apiVersion: 'v1', kind: 'Status', status: 'Failure', message },
        403,
        'POST',
      );
    },
  });
  await start(CRDS, refusing, { executor: workingNodes(), retry: { startMs: 20, maxMs: 100 } });
  await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
  const { phase } = await until('the condition reports the error', async () => {
    const { status } = await client.get<Volume>(VOLUMES, 'a');
    return status?.conditions?.[0]?.message?.includes(message) ? status : undefined;
  });
  expect(phase).toBe('Pending');
  allowed = true;
  await until('the Volume is Available', async () => {
    const { status } = await client.get<Volume>(VOLUMES, 'a');
    return status?.phase === 'Available' || undefined;
  });
});

test.each([
  ['is not observed again after a job that reports its state', true, 1],
  ['is observed after a job that reports no state', false, 2],
])('a node %s', async (_what, tells, expected) => {
  const nodes = workingNodes();
  const looks: string[] = [];
  const executor: Executor = {
    ...nodes,
    observe: (node, probes) => {
      looks.push(node);
      return nodes.observe(node, probes);
    },
    async submit(node, job, waitMs) {
      const state = await nodes.submit(node, job, waitMs);
      return tells
        ? { state: 'succeeded', seen: await nodes.observe(node, job.finalProbes ?? []) }
        : state;
    },
  };
  await start(CRDS, undefined, { executor });
  await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
  const { capacity } = await until('the Volume is Available', async () => {
    const { status } = await client.get<Volume>(VOLUMES, 'a');
    return status?.phase === 'Available' ? status : undefined;
  });
  expect(capacity).toBe('32Mi');
  expect(looks).toHaveLength(expected);
});

describe('a node that was unreachable or rebooted', () => {
  let nodes: WorkingNodes;
  let looks: number;
  /** Called right before a Volume is reported as healthy. */
  let before: () => Promise<unknown>;

  const readyIs = (name: string, reason: string) =>
    until(`${name} has Ready with reason ${reason}`, async () =>
      (await conditionOf(name, 'Ready'))?.reason === reason ? true : undefined,
    );

  const booted = (bootID: string) =>
    client.patch(NODES, 'n1', { status: { nodeInfo: { bootID } } }, { subresource: 'status' });

  beforeEach(async () => {
    nodes = workingNodes();
    looks = 0;
    before = async () => {};
    const observe: Executor['observe'] = (...args) => {
      looks++;
      return nodes.observe(...args);
    };
    const seenBy = (real: KubeClient): KubeClient => ({
      ...real,
      patch: async (resource, name, patch: { status?: VolumeStatus }, ...rest) => {
        const ready = patch.status?.conditions?.find(({ type }) => type === 'Ready');
        if (ready?.status === 'True') await before();
        return real.patch(resource, name, patch, ...rest);
      },
    });
    await start(CRDS, seenBy, { executor: { ...nodes, observe }, attachment: false });
  });

  test('is observed for all its Volumes once one of them has reached it', async () => {
    nodes.away.add('n1');
    for (const name of ['a', 'b', 'c']) {
      await client.create(VOLUMES, sparseVolume(name, 'n1', '32Mi'));
      await readyIs(name, 'NodeUnreachable');
    }
    nodes.away.delete('n1');
    // A changed spec causes a reconcile. The other Volumes would be retried only after ten minutes.
    await client.patch(VOLUMES, 'b', { spec: { onDelete: 'Delete' } });
    for (const name of ['a', 'b', 'c']) await readyIs(name, 'Available');
  });

  test('is observed again, once, after a reboot', async () => {
    await booted('first');
    await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
    await readyIs('a', 'Available');
    const looked = looks;
    await booted('first');
    await client.patch(NODES, 'n1', { metadata: { labels: { other: 'change' } } });
    await booted('second');
    await until('the node is observed', async () => (looks > looked ? true : undefined));
    expect(looks).toBe(looked + 1);
  });

  test('is reported as reachable despite a concurrent write to the Volume', async () => {
    await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
    await readyIs('a', 'Available');
    nodes.away.add('n1');
    await booted('second');
    await readyIs('a', 'NodeUnreachable');
    nodes.away.delete('n1');
    before = async () => {
      before = async () => {};
      await client.patch(VOLUMES, 'a', { metadata: { labels: { other: 'change' } } });
    };
    await booted('third');
    await readyIs('a', 'Available');
  });
});

/** Rejects on abort, and never resolves. */
const aborted = (signal?: AbortSignal) =>
  new Promise<void>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });

test('a reboot of a node resets the backoff of its Volumes', async () => {
  const NEVER = 500;
  const clock: TestClock = {
    now: systemClock.now,
    timeOfDay: systemClock.timeOfDay,
    sleep: (ms, signal) => (ms < NEVER ? systemClock.sleep(ms, signal) : aborted(signal)),
    neverFromMs: NEVER,
  };
  await start(CRDS, undefined, { clock, retry: { startMs: 20, maxMs: 600_000 } });
  await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
  const triedMoreThan = (times: number) =>
    until(
      `tried more than ${times} times`,
      async () => controller.asked.length > times || undefined,
    );
  await triedMoreThan(4);
  await controller.idle(NEVER);
  await client.patch(
    NODES,
    'n1',
    { status: { nodeInfo: { bootID: 'b' } } },
    { subresource: 'status' },
  );
  await triedMoreThan(controller.asked.length + 3);
});

describe('a lost node', () => {
  const forget = async (name: string): Promise<string> => {
    const { metadata } = await client.get<Volume>(VOLUMES, name);
    await annotate(VOLUMES, name, { 'stowage.dev/forget-node': metadata.uid ?? '' });
    await client.delete(VOLUMES, name);
    return metadata.uid ?? '';
  };
  const gone = (name: string) =>
    until(`${name} gone`, async () =>
      (await client.list(VOLUMES)).items.some(({ metadata }) => metadata.name === name)
        ? undefined
        : true,
    );

  const askedAgain = async () => {
    await until('the node is tried again', async () =>
      controller.asked.length > 0 ? true : undefined,
    );
    controller.asked.length = 0;
  };

  test('is forgotten for a Volume under deletion, whose Leftover is retried', async () => {
    await start(CRDS);
    await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
    await goesOn('a');
    await client.delete(VOLUMES, 'a');
    await client.delete(NODES, 'n1');
    const uid = await forget('a');
    await gone('a');
    const message = await until('the Leftover reports NodeUnreachable', async () => {
      const { status } = await client.get<Leftover>(LEFTOVERS, uid);
      return status?.conditions?.find(({ reason }) => reason === 'NodeUnreachable')?.message;
    });
    expect(message).toContain('node n1 is away');

    controller.asked.length = 0;
    await createNode(client, 'n1');
    await askedAgain();
    const conditions = [{ type: 'Ready', status: 'True' }];
    await client.patch(NODES, 'n1', { status: { conditions } }, { subresource: 'status' });
    await askedAgain();

    // An operator who has cleaned up deletes the Leftover manually.
    await client.delete(LEFTOVERS, uid);
    expect((await client.list(LEFTOVERS)).items).toEqual([]);
  });

  test('is forgotten even by a daemon that does not manage it; the Leftover stays', async () => {
    await start(CRDS);
    const volume = sparseVolume('a', 'foreign', '32Mi');
    volume.metadata.finalizers = ['storage.metalk8s.scality.com/volume-protection'];
    await client.create(VOLUMES, volume);
    const uid = await forget('a');
    await gone('a');
    const { spec, status } = await client.get<Leftover>(LEFTOVERS, uid);
    expect({ node: spec.nodeName, status }).toEqual({ node: 'foreign', status: undefined });
    expect(controller.asked).toEqual([]);
  });

  test('is not forgotten without the Leftover CRD, but Volumes work', async () => {
    await start([VOLUME_CRD]);
    await client.create(VOLUMES, sparseVolume('a', 'n1', '32Mi'));
    await goesOn('a');
    await forget('a');
    const message = await until('the condition names the missing CRD', async () => {
      const said = (await conditionOf('a', 'Ready'))?.message;
      return said?.includes('leftover-crd.yaml') ? said : undefined;
    });
    expect(message).toContain('the API server does not serve Leftovers');
  });
});
