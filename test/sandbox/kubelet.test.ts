import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { type Client, clientFor } from '../api-server/client.ts';
import { standIns } from '../support/sandbox/components.ts';
import { until } from '../support/until.ts';

const PODS = '/api/v1/namespaces/default/pods';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const PVS = '/api/v1/persistentvolumes';
const EVENTS = '/api/v1/namespaces/default/events';

let sandbox: Sandbox;
let client: Client;
let done: string[];
/** Errors of the next calls of `mount` and `unmount`. */
let failures: string[];

beforeEach(async () => {
  done = [];
  failures = [];
  const act = async (what: string) => {
    const failure = failures.shift();
    if (failure !== undefined) throw new Error(failure);
    done.push(what);
  };
  sandbox = await startSandbox({
    crds: [],
    ...standIns({
      kubelet: {
        nodes: ['n1'],
        mounts: {
          mount: ({ metadata }) => act(`mount ${metadata.name}`),
          unmount: (name) => act(`unmount ${name}`),
        },
      },
    }),
  });
  client = clientFor(sandbox);
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
});

const post = async (path: string, body: object) =>
  expect((await client.request('POST', path, body)).code).toBe(201);
const get = async (path: string) => (await client.request('GET', path)).body;
const pod = (claimName: string, nodeName = 'n1', metadata: object = {}) =>
  post(PODS, {
    metadata: { name: 'p', ...metadata },
    spec: {
      nodeName,
      containers: [{ name: 'c', image: 'x' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
    },
  });
const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
const volume = (name: string) =>
  post(PVS, {
    metadata: { name },
    spec: { ...spec, capacity: { storage: '1Gi' }, hostPath: { path: '/x' } },
  });
const claim = () =>
  post(CLAIMS, {
    metadata: { name: 'c' },
    spec: { ...spec, resources: { requests: { storage: '1Gi' } } },
  });
const running = () =>
  until('the pod runs', async () => {
    const { status } = await get(`${PODS}/p`);
    return status.phase === 'Running' ? status : undefined;
  });
const gone = () =>
  until('the pod is gone', async () => ((await get(`${PODS}/p`)).code === 404 ? true : undefined));

test('a pod runs once its claim is bound and mounted', async () => {
  await claim();
  await pod('c');
  const waiting = await until(
    'the pod has container statuses',
    async () => (await get(`${PODS}/p`)).status.containerStatuses,
  );
  expect([waiting[0].state, done]).toEqual([{ waiting: { reason: 'ContainerCreating' } }, []]);
  await volume('v');
  expect(await running()).toMatchObject({
    containerStatuses: [{ name: 'c', image: 'x', ready: true, state: { running: {} } }],
    conditions: [
      { type: 'Initialized' },
      { type: 'ContainersReady' },
      { type: 'Ready', status: 'True' },
    ],
  });
  expect(done).toEqual(['mount v']);
});

test('a failed mount emits an event, and is retried', async () => {
  failures = ['no such device'];
  await volume('v');
  await claim();
  await pod('c');
  await running();
  const { items } = await get(EVENTS);
  expect(items).toMatchObject([
    {
      reason: 'FailedMount',
      type: 'Warning',
      message: 'no such device',
      involvedObject: { name: 'p' },
    },
  ]);
});

describe('deletion of a pod', () => {
  beforeEach(async () => {
    await volume('v');
    await claim();
    await pod('c');
    await running();
  });

  test('unmounts before the pod goes', async () => {
    failures = Array(1000).fill('target is busy');
    const { body } = await client.request('DELETE', `${PODS}/p`);
    expect(body.metadata).toMatchObject({
      deletionGracePeriodSeconds: 30,
      deletionTimestamp: expect.any(String),
    });
    const ended = await until('the containers have ended', async () => {
      const { status } = await get(`${PODS}/p`);
      return status?.containerStatuses?.[0].state.terminated ? status : undefined;
    });
    expect(ended.conditions.at(-1)).toMatchObject({ type: 'Ready', status: 'False' });
    expect(done).toEqual(['mount v']);
    failures = [];
    await gone();
    expect(done).toEqual(['mount v', 'unmount v']);
  });

  test('with a grace period of 0 unmounts after the pod is gone', async () => {
    await client.request('DELETE', `${PODS}/p`, { gracePeriodSeconds: 0 });
    expect((await get(`${PODS}/p`)).code).toBe(404);
    await until('the volume is unmounted', async () => (done.length === 2 ? true : undefined));
    expect(done).toEqual(['mount v', 'unmount v']);
  });

  test('does not complete while a finalizer is left', async () => {
    const MERGE = { 'content-type': 'application/merge-patch+json' };
    const finalizers = (list: string[] | null) =>
      client.request('PATCH', `${PODS}/p`, { metadata: { finalizers: list } }, MERGE);
    await finalizers(['example.com/keep']);
    await client.request('DELETE', `${PODS}/p`);
    await until('the volume is unmounted', async () => (done.length === 2 ? true : undefined));
    expect((await get(`${PODS}/p`)).metadata.finalizers).toEqual(['example.com/keep']);
    await finalizers(null);
    await gone();
  });
});

test('pods of other nodes are ignored, and deleted at once', async () => {
  await volume('v');
  await claim();
  await pod('c', 'n2');
  expect((await get(`${PODS}/p`)).status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
  await client.request('DELETE', `${PODS}/p`);
  expect((await get(`${PODS}/p`)).code).toBe(404);
  expect(done).toEqual([]);
});

test('stopping the sandbox unmounts all volumes', async () => {
  await volume('v');
  await claim();
  await pod('c');
  await running();
  await sandbox.stop();
  expect(done).toEqual(['mount v', 'unmount v']);
});
