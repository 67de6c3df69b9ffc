import { beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import type { Client } from './client.ts';
import { MERGE } from './disks.ts';
import { cleanUp, type Suite } from './server.ts';

const PVS = '/api/v1/persistentvolumes';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const PODS = '/api/v1/namespaces/default/pods';
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';

/** Results of the PersistentVolume controller for volumes and claims, and their protection. */
export const binder: Suite = (server) => {
  cleanUp(server, PODS, CLAIMS, PVS, CLASSES);
  const client = {
    request: (...call: Parameters<Client['request']>) => server().client.request(...call),
  };
  beforeEach(async () => {
    for (const volumeBindingMode of ['Immediate', 'WaitForFirstConsumer'])
      await post(CLASSES, {
        metadata: { name: volumeBindingMode.toLowerCase() },
        provisioner: 'kubernetes.io/no-provisioner',
        volumeBindingMode,
      });
  });

  async function post(path: string, body: object) {
    const answer = await client.request('POST', path, body);
    expect(answer).toMatchObject({ code: 201 });
  }

  const pv = (name: string, spec: object = {}, annotations: object = {}) =>
    post(PVS, {
      metadata: { name, annotations },
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'immediate',
        hostPath: { path: '/x' },
        ...spec,
      },
    });
  const claim = (name: string, spec: object = {}) =>
    post(CLAIMS, {
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'immediate',
        resources: { requests: { storage: '5Gi' } },
        ...spec,
      },
    });
  const pod = (claimName: string, nodeName: string) =>
    post(PODS, {
      metadata: { name: 'p' },
      spec: {
        nodeName,
        containers: [{ name: 'a', image: 'x' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
      },
    });
  const read = async (path: string) => (await client.request('GET', path)).body;
  /** Waits for the phase: controllers react some time after a write. */
  const comesTo = (path: string, phase: string) =>
    until(`${path} is ${phase}`, async () => {
      const { status, reason } = await read(path);
      return (status?.phase ?? reason) === phase || undefined;
    });
  const isGone = (path: string) => comesTo(path, 'NotFound');
  const volumeOf = async (name: string) => (await read(`${CLAIMS}/${name}`)).spec.volumeName;

  test('an unclaimed volume is available', async () => {
    await pv('v');
    await comesTo(`${PVS}/v`, 'Available');
  });

  test('a claim gets the smallest volume that is large enough', async () => {
    await pv('large', { capacity: { storage: '20Gi' } });
    await pv('right');
    await pv('small', { capacity: { storage: '4Gi' } });
    for (const name of ['large', 'right', 'small']) await comesTo(`${PVS}/${name}`, 'Available');
    await claim('c');
    await comesTo(`${CLAIMS}/c`, 'Bound');
    const { metadata, spec, status } = await read(`${CLAIMS}/c`);
    expect([spec.volumeName, status]).toEqual([
      'right',
      { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '10Gi' } },
    ]);
    expect(metadata.annotations).toEqual({
      'pv.kubernetes.io/bind-completed': 'yes',
      'pv.kubernetes.io/bound-by-controller': 'yes',
    });
    const volume = await read(`${PVS}/right`);
    expect([volume.status.phase, volume.spec.claimRef.uid]).toEqual(['Bound', metadata.uid]);
    expect(volume.metadata.annotations).toEqual({ 'pv.kubernetes.io/bound-by-controller': 'yes' });
  });

  test.each<[string, object, object]>([
    ['class', { storageClassName: 'other' }, {}],
    ['mode', { volumeMode: 'Block' }, {}],
    ['access mode', { accessModes: ['ReadOnlyMany'] }, {}],
    ['size', { capacity: { storage: '4Gi' } }, {}],
    ['reservation', { claimRef: { namespace: 'default', name: 'another' } }, {}],
    ['name', {}, { volumeName: 'right' }],
  ])('a volume of another %s is passed over', async (_, volumeSpec, claimSpec) => {
    await pv('other', volumeSpec);
    // Larger than the other one, which would be preferred if it fitted.
    await pv('right', { capacity: { storage: '50Gi' } });
    for (const name of ['other', 'right']) await comesTo(`${PVS}/${name}`, 'Available');
    await claim('c', claimSpec);
    await comesTo(`${CLAIMS}/c`, 'Bound');
    expect(await volumeOf('c')).toBe('right');
    await comesTo(`${PVS}/other`, 'Available');
  });

  describe('a class that waits for the first consumer', () => {
    const storageClassName = 'waitforfirstconsumer';

    test('waits for the scheduler, which reserves a volume', async () => {
      await pv('v', { storageClassName });
      await comesTo(`${PVS}/v`, 'Available');
      await claim('c', { storageClassName });
      // A pod with a node set at its creation bypasses the scheduler, which would cause the
      // binding.
      await pod('c', 'n1');
      await pv('w');
      await comesTo(`${PVS}/w`, 'Available');
      await claim('at-once');
      await comesTo(`${CLAIMS}/at-once`, 'Bound');
      await comesTo(`${CLAIMS}/c`, 'Pending');
      const claimRef = { namespace: 'default', name: 'c' };
      await client.request('PATCH', `${PVS}/v`, { spec: { claimRef } }, MERGE);
      await comesTo(`${CLAIMS}/c`, 'Bound');
    });

    test('binds a reservation at once', async () => {
      await pv('v', { storageClassName, claimRef: { namespace: 'default', name: 'c' } });
      await claim('c', { storageClassName });
      await comesTo(`${CLAIMS}/c`, 'Bound');
      expect((await read(`${PVS}/v`)).metadata.annotations).toBeUndefined();
      expect((await read(`${CLAIMS}/c`)).metadata.annotations).toEqual({
        'pv.kubernetes.io/bind-completed': 'yes',
        'pv.kubernetes.io/bound-by-controller': 'yes',
      });
    });
  });

  describe('a class with a provisioner', () => {
    const ANNOTATIONS = [
      'volume.kubernetes.io/storage-provisioner',
      'volume.beta.kubernetes.io/storage-provisioner',
    ];
    const asked = Object.fromEntries(ANNOTATIONS.map((name) => [name, 'example.com/p']));
    const makeClass = (name: string, volumeBindingMode: string) =>
      post(CLASSES, { metadata: { name }, provisioner: 'example.com/p', volumeBindingMode });
    const annotations = async () => (await read(`${CLAIMS}/c`)).metadata.annotations;
    const isAsked = () =>
      until('the claim names its provisioner', async () => {
        const found = (await annotations()) ?? {};
        return ANNOTATIONS.every((name) => found[name] === 'example.com/p') || undefined;
      });

    test('asks it for a volume, and the claim gets the one that refers to it', async () => {
      await makeClass('made', 'Immediate');
      await claim('c', { storageClassName: 'made' });
      await isAsked();
      const { uid } = (await read(`${CLAIMS}/c`)).metadata;
      const claimRef = { namespace: 'default', name: 'c', uid };
      await pv('made', { storageClassName: 'made', claimRef });
      await comesTo(`${CLAIMS}/c`, 'Bound');
      expect(await annotations()).toEqual({
        ...asked,
        'pv.kubernetes.io/bind-completed': 'yes',
        'pv.kubernetes.io/bound-by-controller': 'yes',
      });
    });

    test('asks it once a node is selected, where the class waits for the first consumer', async () => {
      await makeClass('made', 'WaitForFirstConsumer');
      await claim('c', { storageClassName: 'made' });
      await claim('at-once');
      await pv('w');
      await comesTo(`${CLAIMS}/at-once`, 'Bound');
      expect(await annotations()).toBeUndefined();
      const selected = { 'volume.kubernetes.io/selected-node': 'n1' };
      await client.request('PATCH', `${CLAIMS}/c`, { metadata: { annotations: selected } }, MERGE);
      await isAsked();
    });

    test('leaves its volumes to it when they are released', async () => {
      await makeClass('made', 'Immediate');
      await claim('c', { storageClassName: 'made' });
      const spec = { storageClassName: 'made', persistentVolumeReclaimPolicy: 'Delete' };
      await pv('made', spec, { 'pv.kubernetes.io/provisioned-by': 'example.com/p' });
      await comesTo(`${CLAIMS}/c`, 'Bound');
      await client.request('DELETE', `${CLAIMS}/c`);
      await comesTo(`${PVS}/made`, 'Released');
    });
  });

  test('what is said of the capacity of a claim that is bound stays', async () => {
    await pv('v');
    await claim('c');
    await comesTo(`${CLAIMS}/c`, 'Bound');
    const status = { capacity: { storage: '7Gi' }, allocatedResources: { storage: '10Gi' } };
    await client.request('PATCH', `${CLAIMS}/c/status`, { status }, MERGE);
    // Both are reconciled again.
    await client.request('PATCH', `${PVS}/v`, { spec: { capacity: { storage: '12Gi' } } }, MERGE);
    await client.request('PATCH', `${CLAIMS}/c`, { metadata: { annotations: { a: 'b' } } }, MERGE);
    await pv('w');
    await comesTo(`${PVS}/w`, 'Available');
    expect((await read(`${CLAIMS}/c`)).status).toEqual({
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      ...status,
    });
  });

  describe('deleting', () => {
    const both = async () => {
      await pv('v');
      await claim('c');
      await comesTo(`${CLAIMS}/c`, 'Bound');
      await comesTo(`${PVS}/v`, 'Bound');
    };

    test('a bound volume stays until its claim is gone, and that until its pod is', async () => {
      await both();
      await pod('c', 'n1');
      await client.request('DELETE', `${PVS}/v`);
      await client.request('DELETE', `${CLAIMS}/c`);
      for (const path of [`${PVS}/v`, `${CLAIMS}/c`])
        expect((await read(path)).metadata.deletionTimestamp).toBeDefined();
      await client.request('DELETE', `${PODS}/p`, { gracePeriodSeconds: 0 });
      await isGone(`${CLAIMS}/c`);
      await isGone(`${PVS}/v`);
    });

    test('the claim releases its volume, which no other claim then gets', async () => {
      await both();
      await client.request('DELETE', `${CLAIMS}/c`);
      await comesTo(`${PVS}/v`, 'Released');
      await pv('w', { capacity: { storage: '50Gi' } });
      await comesTo(`${PVS}/w`, 'Available');
      await claim('c');
      await comesTo(`${CLAIMS}/c`, 'Bound');
      expect(await volumeOf('c')).toBe('w');
    });

    test('the volume leaves its claim lost', async () => {
      await both();
      await client.request('DELETE', `${PVS}/v`);
      await client.request('PATCH', `${PVS}/v`, { metadata: { finalizers: null } }, MERGE);
      await comesTo(`${CLAIMS}/c`, 'Lost');
    });
  });
};
