import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PersistentVolume } from '../../../src/api/core.ts';
import type { Leftover } from '../../../src/api/leftover.ts';
import type { Resource } from '../../../src/api/meta.ts';
import { LEFTOVERS, PERSISTENT_VOLUMES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { startController } from '../../support/controller.ts';
import { until } from '../../support/until.ts';
import { FINALIZER } from '../../support/volume-input.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

/**
 * Creates a Volume that is Available on a lost node, with its PersistentVolume, marked to forget
 * the node, and deleted.
 */
async function forgotten(name: string): Promise<string> {
  const { client } = cluster;
  const volume = sparseVolume(name, 'n1', '32Mi');
  volume.metadata.finalizers = [FINALIZER];
  const { metadata } = await client.create(VOLUMES, volume);
  const { uid = '' } = metadata;
  const status: Volume['status'] = {
    phase: 'Available',
    job: 'PrepareVolume/DONE',
    attempt: 1,
    prepared: {
      node: 'n1',
      paths: [`/var/lib/metalk8s/storage/sparse/${uid}`],
      identity: `ext4 ${uid}`,
    },
    conditions: [{ type: 'Ready', status: 'True', reason: 'Available', message: '' }],
  };
  await client.patch(VOLUMES, name, { status }, { subresource: 'status' });
  await client.create<PersistentVolume>(PERSISTENT_VOLUMES, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name,
      finalizers: [FINALIZER],
      ownerReferences: [{ apiVersion: volume.apiVersion, kind: 'Volume', name, uid }],
    },
    spec: {
      capacity: { storage: '32Mi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'local',
      local: { path: `/dev/disk/by-uuid/${uid}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }],
            },
          ],
        },
      },
    },
  });
  await until('the PersistentVolume is Available', async () => {
    const pv = await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
    return pv.status?.phase === 'Available' ? true : undefined;
  });
  await client.patch(VOLUMES, name, {
    metadata: { annotations: { 'stowage.dev/forget-node': uid } },
  });
  await client.delete(VOLUMES, name);
  return uid;
}

/**
 * Returns the client of a process that dies before, or right after, its n-th write. Later writes
 * fail.
 */
function dying(at: number, when: 'before' | 'after') {
  const writes: string[] = [];
  let dead = false;
  const { promise: died, resolve } = Promise.withResolvers<void>();
  const write =
    <A extends [Resource, ...never[]], R>(verb: string, carryOut: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const { kind, plural } = args[0];
      if (dead) throw new Error('this process is dead');
      // Writes outside of the sequence: events, and the status of Leftovers.
      if (kind === 'Event' || (verb === 'patch' && kind === 'Leftover')) return carryOut(...args);
      const mine = writes.push(`${verb} ${plural}`) === at;
      if (mine) dead = true;
      try {
        if (mine && when === 'before') throw new Error('dies');
        const result = await carryOut(...args);
        if (mine) throw new Error('dies');
        return result;
      } finally {
        if (mine) resolve();
      }
    };
  const { client } = cluster;
  const mortal = {
    ...client,
    create: write('create', client.create as never),
    patch: write('patch', client.patch as never),
    delete: write('delete', client.delete as never),
  } as KubeClient;
  return { client: mortal, writes, died };
}

const has = async (resource: Resource, name: string) =>
  (await cluster.client.list(resource)).items.some(({ metadata }) => metadata.name === name);

async function letGo(name: string): Promise<void> {
  await until(`Volume and PersistentVolume ${name} are gone`, async () =>
    (await has(VOLUMES, name)) || (await has(PERSISTENT_VOLUMES, name)) ? undefined : true,
  );
}

/** Writes of a daemon until Volume and PersistentVolume are gone. */
const WRITES = [
  'delete persistentvolumes',
  'create leftovers',
  'patch persistentvolumes',
  'patch volumes',
];

test('a Leftover is created before the finalizers are removed', async () => {
  const uid = await forgotten('whole');
  const { client, writes } = dying(0, 'before');
  const controller = await startController(client);
  await letGo('whole');
  await controller.stop();
  expect(writes).toEqual(WRITES);
  expect(await has(LEFTOVERS, uid)).toBe(true);
});

const CRASHES = WRITES.flatMap((what, index) =>
  (['before', 'after'] as const).map((when) => [when, what, index + 1] as const),
);
test.each(CRASHES)(
  'killed %s "%s": the next daemon completes the deletion, and keeps one Leftover',
  async (when, what, at) => {
    const name = `killed-${when}-${at}`;
    const uid = await forgotten(name);
    const { client, writes, died } = dying(at, when);
    const first = await startController(client);
    await died;
    await first.stop();
    expect(writes.at(at - 1)).toBe(what);
    // At any time, the Volume or its Leftover exists.
    expect((await has(VOLUMES, name)) || (await has(LEFTOVERS, uid))).toBe(true);
    const second = await startController(cluster.client);
    await letGo(name);
    await second.stop();
    const { spec } = await cluster.client.get<Leftover>(LEFTOVERS, uid);
    expect(spec).toMatchObject({ volumeName: name, nodeName: 'n1', prepared: { node: 'n1' } });
  },
);
