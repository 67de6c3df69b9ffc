import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type {
  KubeEvent,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../src/api/core.ts';
import {
  EVENTS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { DIRECTORIES } from '../../../src/storage/records.ts';
import { createNode, dynamicClass } from '../../support/claim-objects.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { until } from '../../support/until.ts';
import { type WorkingNodes, workingNodes } from '../../support/working-nodes.ts';

/**
 * Claims of dynamic classes, with the daemon's controllers, a sandbox's API server and nodes in
 * memory.
 */

const namespace = 'default';
const GIB = 1n << 30n;
const SELECTED = 'volume.kubernetes.io/selected-node';

let cluster: TestCluster;
let client: KubeClient;
let controller: TestController;
let nodes: WorkingNodes;
let writes: string[];

const noting = (real: KubeClient): KubeClient => ({
  ...real,
  create(resource, object, options) {
    writes.push(`create ${resource.plural}`);
    return real.create(resource, object, options);
  },
  patch(resource, name, patch, options) {
    writes.push(`patch ${resource.plural} ${name}`);
    return real.patch(resource, name, patch, options);
  },
  delete(resource, name, options) {
    writes.push(`delete ${resource.plural} ${name}`);
    return real.delete(resource, name, options);
  },
});

beforeEach(async () => {
  cluster = await startCluster();
  client = cluster.client;
  nodes = workingNodes();
  writes = [];
  for (const name of ['n1', 'n2']) await createNode(client, name);
  controller = await startController(noting(client), { executor: nodes });
});

afterEach(async () => {
  await controller.stop();
  await cluster.stop();
});

const createClass = (more: Partial<StorageClass> = {}) =>
  client.create(STORAGE_CLASSES, dynamicClass('dynamic', { allowVolumeExpansion: true, ...more }));
const createClaim = (
  name: string,
  size: string,
  more: Partial<PersistentVolumeClaim['spec']> = {},
  annotations?: Record<string, string>,
) =>
  client.create<PersistentVolumeClaim>(
    PERSISTENT_VOLUME_CLAIMS,
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace, ...(annotations && { annotations }) },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'dynamic',
        resources: { requests: { storage: size } },
        ...more,
      },
    },
    { namespace },
  );
/** Creates a pod that no node runs. */
const createPod = (claimName: string) =>
  client.create<Pod>(
    PODS,
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'db-0', namespace },
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': 'none' },
        containers: [{ name: 'db', image: 'db' }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
      } as Pod['spec'],
    },
    { namespace },
  );
const claimNow = (name: string) =>
  client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, { namespace });
const isBound = (name: string) =>
  until(`${name} is bound`, async () => {
    const claim = await claimNow(name);
    return claim.status?.phase === 'Bound' ? claim : undefined;
  });
const volumesNow = async () => (await client.list<Volume>(VOLUMES)).items;
const eventsOf = async (name: string) =>
  (await client.list<KubeEvent>(EVENTS, { namespace })).items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
const isTold = (name: string, text: string) =>
  until(`${name} has an event: ${text}`, async () => {
    const told = await eventsOf(name);
    return told.some((each) => each.includes(text)) ? told : undefined;
  });

/** Returns the files without the records of directories, which outlast their volumes. */
const filesOn = (node: string) =>
  [...nodes.disk(node).files.keys()].filter((path) => !path.startsWith(`${DIRECTORIES}/`));

test('a claim gets its own Volume, which is deleted with the claim', async () => {
  await createClass();
  const { metadata } = await createClaim('data', '1Gi');
  const { spec } = await isBound('data');
  expect(spec.volumeName).toBe(`pvc-${metadata.uid}`);
  const pv = await client.get<PersistentVolume>(PERSISTENT_VOLUMES, spec.volumeName ?? '');
  expect(pv.metadata.annotations).toMatchObject({
    'pv.kubernetes.io/provisioned-by': 'volume.stowage.dev',
  });
  expect(pv.spec).toMatchObject({
    persistentVolumeReclaimPolicy: 'Delete',
    storageClassName: 'dynamic',
    claimRef: { namespace, name: 'data', uid: metadata.uid },
  });
  const [volume] = await volumesNow();
  expect(volume?.spec).toMatchObject({
    sparseLoopDevice: { size: '1Gi' },
    mode: 'Filesystem',
    onDelete: 'Delete',
  });

  await client.delete(PERSISTENT_VOLUME_CLAIMS, 'data', { namespace });
  await until('the Volume is gone', async () =>
    (await volumesNow()).length === 0 ? true : undefined,
  );
  expect((await client.list(PERSISTENT_VOLUMES)).items).toEqual([]);
  const node = volume?.spec.nodeName ?? '';
  expect(filesOn(node)).toEqual([]);
});

test('reclaim policy Retain keeps the Volume until the policy changes to Delete', async () => {
  await createClass({ reclaimPolicy: 'Retain' });
  await createClaim('data', '1Gi');
  const { spec } = await isBound('data');
  await client.delete(PERSISTENT_VOLUME_CLAIMS, 'data', { namespace });
  await until('the PersistentVolume is Released', async () => {
    const { status } = await client.get<PersistentVolume>(
      PERSISTENT_VOLUMES,
      spec.volumeName ?? '',
    );
    return status?.phase === 'Released' ? true : undefined;
  });
  expect((await volumesNow()).map(({ metadata }) => metadata.deletionTimestamp)).toEqual([
    undefined,
  ]);
  await client.patch(PERSISTENT_VOLUMES, spec.volumeName ?? '', {
    spec: { persistentVolumeReclaimPolicy: 'Delete' },
  });
  await until('the Volume is gone', async () =>
    (await volumesNow()).length === 0 ? true : undefined,
  );
  expect(['n1', 'n2'].flatMap(filesOn)).toEqual([]);
});

describe('a claim of a WaitForFirstConsumer class', () => {
  beforeEach(() => createClass({ volumeBindingMode: 'WaitForFirstConsumer' }).then(() => {}));

  test('is provisioned on the selected node, once a pod uses it', async () => {
    await createClaim('data', '1Gi');
    expect(writes.filter((write) => write.startsWith('create'))).toEqual([]);
    await client.patch(
      PERSISTENT_VOLUME_CLAIMS,
      'data',
      { metadata: { annotations: { [SELECTED]: 'n2' } } },
      { namespace },
    );
    // Another claim is provisioned meanwhile. This claim is not, as no pod uses it.
    await client.create(STORAGE_CLASSES, dynamicClass('immediate'));
    await createClaim('other', '1Gi', { storageClassName: 'immediate' });
    await isBound('other');
    expect((await claimNow('data')).status?.phase).toBe('Pending');
    await client.delete(PERSISTENT_VOLUME_CLAIMS, 'other', { namespace });
    await until('the Volume is gone', async () =>
      (await volumesNow()).length === 0 ? true : undefined,
    );
    await createPod('data');
    await isBound('data');
    expect((await volumesNow()).map(({ spec }) => spec.nodeName)).toEqual(['n2']);
  });

  test('is rescheduled with an event if the selected node lacks space', async () => {
    nodes.disk('n2').spaceBytes = GIB;
    await createPod('data');
    await createClaim('data', '2Gi', {}, { [SELECTED]: 'n2' });
    const told = await isTold('data', 'node n2 has 1Gi available');
    expect(told.join()).toContain('Warning ProvisioningFailed');
    expect((await claimNow('data')).metadata.annotations?.[SELECTED]).toBeUndefined();
    expect(await volumesNow()).toEqual([]);
  });
});

test('claims that exceed the capacity wait, and are provisioned after deletions', async () => {
  await createClass();
  nodes.disk('n1').spaceBytes = 10n * GIB;
  nodes.disk('n2').spaceBytes = 20n * GIB;
  const names = Array.from({ length: 50 }, (_, n) => `data-${n}`);
  await Promise.all(names.map((name) => createClaim(name, '1Gi')));
  const bound = async () =>
    (
      await client.list<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, { namespace })
    ).items.filter(({ status }) => status?.phase === 'Bound');
  await until('30 claims bound', async () => ((await bound()).length === 30 ? true : undefined));
  const has = new Set((await bound()).map(({ metadata }) => metadata.name));
  for (const name of names.filter((each) => !has.has(each))) await isTold(name, ' available in ');
  expect((await bound()).length).toBe(30);
  expect((await volumesNow()).length).toBe(30);

  for (const name of [...has].slice(0, 20)) {
    await client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace });
  }
  const others = names.filter((each) => !has.has(each));
  await until('the other claims are bound', async () => {
    const now = new Set((await bound()).map(({ metadata }) => metadata.name));
    return others.every((each) => now.has(each)) ? true : undefined;
  });
});

test('a claim provisioned before a restore of the API server gets no second volume', async () => {
  await createClass({ volumeBindingMode: 'WaitForFirstConsumer' });
  const { metadata } = await createClaim('data', '1Gi');
  const name = `pvc-${metadata.uid}`;
  // Objects of an API server that is lost. The nodes are the same.
  const lost = await startCluster({ nodes: ['n1'] });
  try {
    const volume: Volume = {
      ...sparseVolume(name, 'n1', '1Gi'),
      ...{ spec: { ...sparseVolume(name, 'n1', '1Gi').spec, storageClassName: 'dynamic' } },
    };
    volume.spec.template = {
      metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'volume.stowage.dev' } },
    };
    await lost.client.create(STORAGE_CLASSES, {
      ...(await client.get<StorageClass>(STORAGE_CLASSES, 'dynamic')),
      metadata: { name: 'dynamic' },
    });
    const before = await startController(lost.client, { executor: nodes });
    await lost.client.create(VOLUMES, volume);
    await until('the Volume is Available', async () =>
      (await lost.client.get<Volume>(VOLUMES, name)).status?.phase === 'Available'
        ? true
        : undefined,
    );
    await before.stop();
  } finally {
    await lost.stop();
  }
  const files = [...nodes.disk('n1').files.keys()];

  await createPod('data');
  await client.patch(
    PERSISTENT_VOLUME_CLAIMS,
    'data',
    { metadata: { annotations: { [SELECTED]: 'n1' } } },
    { namespace },
  );
  await isTold('data', `a Volume ${name} with the UID `);
  await isTold('data', ' was provisioned on this node before');
  expect((await claimNow('data')).status?.phase).toBe('Pending');
  expect([...nodes.disk('n1').files.keys()]).toEqual(files);
});

test('a bound claim is expanded when its request grows', async () => {
  await createClass();
  await createClaim('data', '1Gi');
  await isBound('data');
  await client.patch(
    PERSISTENT_VOLUME_CLAIMS,
    'data',
    { spec: { resources: { requests: { storage: '2Gi' } } } },
    { namespace },
  );
  await until('the claim has grown', async () => {
    const { status } = await claimNow('data');
    return status?.capacity?.storage === String(2n * GIB) || status?.capacity?.storage === '2Gi'
      ? true
      : undefined;
  });
});
