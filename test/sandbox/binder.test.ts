import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { onNode } from '../support/volumes.ts';
import { type Client, clientFor } from './client.ts';

const PVS = '/api/v1/persistentvolumes';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const PODS = '/api/v1/namespaces/default/pods';
const MERGE = { 'content-type': 'application/merge-patch+json' };

let sandbox: Sandbox;
let client: Client;
beforeEach(async () => {
  sandbox = await startSandbox({ crds: [] });
  client = clientFor(sandbox);
  await post('/api/v1/nodes', { metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } } });
  for (const volumeBindingMode of ['Immediate', 'WaitForFirstConsumer'])
    await post('/apis/storage.k8s.io/v1/storageclasses', {
      metadata: { name: volumeBindingMode.toLowerCase() },
      provisioner: 'x',
      volumeBindingMode,
    });
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
});

async function post(path: string, body: object) {
  const answer = await client.request('POST', path, body);
  expect(answer.code).toBe(201);
}

const pv = (name: string, spec: object = {}) =>
  post(PVS, {
    metadata: { name },
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
const pod = (claimName: string, nodeName?: string) =>
  post(PODS, {
    metadata: { name: 'p' },
    spec: { containers: [], nodeName, volumes: [{ persistentVolumeClaim: { claimName } }] },
  });
/** What the binder made of an object; it acts before the next request is answered. */
const phase = async (path: string) => {
  const { body } = await client.request('GET', path);
  return body.status?.phase ?? body.reason;
};
const isGone = async (path: string) => (await phase(path)) === 'NotFound';

test('an unclaimed volume is available', async () => {
  await pv('v');
  expect(await phase(`${PVS}/v`)).toBe('Available');
});

test('a claim gets the smallest volume that is large enough', async () => {
  await pv('large', { capacity: { storage: '20Gi' } });
  await pv('right');
  await pv('small', { capacity: { storage: '4Gi' } });
  await claim('c');
  const { body } = await client.request('GET', `${CLAIMS}/c`);
  expect([body.spec.volumeName, body.status]).toEqual([
    'right',
    { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '10Gi' } },
  ]);
  const { body: volume } = await client.request('GET', `${PVS}/right`);
  expect([volume.status.phase, volume.spec.claimRef.uid]).toEqual(['Bound', body.metadata.uid]);
});

test.each<[string, object, object]>([
  ['class', { storageClassName: 'other' }, {}],
  ['mode', { volumeMode: 'Block' }, {}],
  ['access mode', { accessModes: ['ReadOnlyMany'] }, {}],
  ['size', { capacity: { storage: '4Gi' } }, {}],
  ['reservation', { claimRef: { namespace: 'default', name: 'another' } }, {}],
  ['name', {}, { volumeName: 'another' }],
])('a volume of another %s does not fit', async (_, volumeSpec, claimSpec) => {
  await pv('v', volumeSpec);
  await claim('c', claimSpec);
  expect([await phase(`${PVS}/v`), await phase(`${CLAIMS}/c`)]).toEqual(['Available', 'Pending']);
});

describe('a class that waits for the first consumer', () => {
  const storageClassName = 'waitforfirstconsumer';

  test('binds once a pod that uses the claim has a node, there', async () => {
    await pv('elsewhere', { storageClassName, nodeAffinity: onNode('n2'), capacity: { storage: '6Gi' } });
    await pv('here', { storageClassName, nodeAffinity: onNode('n1') });
    await claim('c', { storageClassName });
    expect(await phase(`${CLAIMS}/c`)).toBe('Pending');
    await pod('c');
    expect(await phase(`${CLAIMS}/c`)).toBe('Pending');
    await client.request('PATCH', `${PODS}/p`, { spec: { nodeName: 'n1' } }, MERGE);
    expect(await phase(`${PVS}/here`)).toBe('Bound');
    expect(await phase(`${PVS}/elsewhere`)).toBe('Available');
  });

  test('binds once a node is selected', async () => {
    await pv('v', { storageClassName });
    await claim('c', { storageClassName });
    const annotations = { 'volume.kubernetes.io/selected-node': 'n1' };
    await client.request('PATCH', `${CLAIMS}/c`, { metadata: { annotations } }, MERGE);
    expect(await phase(`${CLAIMS}/c`)).toBe('Bound');
  });

  test('binds a reservation at once', async () => {
    await pv('v', { storageClassName, claimRef: { namespace: 'default', name: 'c' } });
    await claim('c', { storageClassName });
    expect(await phase(`${CLAIMS}/c`)).toBe('Bound');
  });
});

describe('deleting', () => {
  test('a bound volume stays until its claim is gone, and that until its pod is', async () => {
    await pv('v');
    await claim('c');
    await pod('c', 'n1');
    await client.request('DELETE', `${PVS}/v`);
    await client.request('DELETE', `${CLAIMS}/c`);
    expect([await phase(`${PVS}/v`), await phase(`${CLAIMS}/c`)]).toEqual(['Bound', 'Bound']);
    await client.request('DELETE', `${PODS}/p`);
    expect([await isGone(`${CLAIMS}/c`), await isGone(`${PVS}/v`)]).toEqual([true, true]);
  });

  test('the claim releases its volume, which no other claim then gets', async () => {
    await pv('v');
    await claim('c');
    await client.request('DELETE', `${CLAIMS}/c`);
    expect(await phase(`${PVS}/v`)).toBe('Released');
    await claim('c');
    expect(await phase(`${CLAIMS}/c`)).toBe('Pending');
  });

  test('the volume leaves its claim lost', async () => {
    await pv('v');
    await claim('c');
    const finalizers = { metadata: { finalizers: null } };
    await client.request('DELETE', `${PVS}/v`);
    await client.request('PATCH', `${PVS}/v`, finalizers, MERGE);
    expect(await phase(`${CLAIMS}/c`)).toBe('Lost');
  });
});
