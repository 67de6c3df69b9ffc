import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CRDS } from '../../src/api/crds.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { sparseVolume } from '../support/cluster.ts';
import { clientFor } from './client.ts';

let sandbox: Sandbox;
let client: ReturnType<typeof clientFor>;
beforeAll(async () => {
  sandbox = await startSandbox({ crds: CRDS });
  client = clientFor(sandbox);
});
afterAll(async () => {
  await client.close();
  await sandbox.stop();
});

const VOLUMES = '/apis/storage.metalk8s.scality.com/v1alpha1/volumes';
const map = (name: string, more: object = {}) => ({ metadata: { name, ...more } });

describe('a namespace that is being deleted', () => {
  beforeAll(async () => {
    await client.request('POST', '/api/v1/namespaces', map('going'));
    await client.request(
      'POST',
      '/api/v1/namespaces/going/configmaps',
      map('held', { finalizers: ['x.io/y'] }),
    );
    await client.request('DELETE', '/api/v1/namespaces/going');
  });

  test('is Terminating', async () => {
    const { body } = await client.request('GET', '/api/v1/namespaces/going');
    expect(body.status.phase).toBe('Terminating');
  });

  test('takes nothing new, and still changes', async () => {
    const { code, body } = await client.request('POST', '/api/v1/namespaces/going/configmaps', map('new'));
    expect(code).toBe(403);
    expect(body).toMatchObject({
      reason: 'Forbidden',
      message:
        'configmaps "new" is forbidden: unable to create new content in namespace going because it is being terminated',
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    });
    const patch = await client.request(
      'PATCH',
      '/api/v1/namespaces/going/configmaps/held',
      { metadata: { labels: { a: 'b' } } },
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(patch.code).toBe(200);
  });
});

test.each(['default', 'kube-system'])('the namespace %s stays', async (name) => {
  const { code, body } = await client.request('DELETE', `/api/v1/namespaces/${name}`);
  expect(code).toBe(403);
  expect(body.message).toBe(`namespaces "${name}" is forbidden: this namespace may not be deleted`);
  const left = await client.request('GET', `/api/v1/namespaces/${name}`);
  expect(left.body.status.phase).toBe('Active');
});

describe('what is in no namespace', () => {
  test('loses the one that it names', async () => {
    const volume = sparseVolume('data1', 'n1', '1Gi');
    const named = { ...volume, metadata: { ...volume.metadata, namespace: 'foo' } };
    const made = await client.request('POST', VOLUMES, named);
    expect(made.code).toBe(201);
    expect(made.body.metadata).not.toHaveProperty('namespace');
    const patched = await client.request(
      'PATCH',
      `${VOLUMES}/data1`,
      { metadata: { namespace: 'foo', labels: { a: 'b' } } },
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(patched.code).toBe(200);
    expect(patched.body.metadata).toMatchObject({ labels: { a: 'b' } });
    expect(patched.body.metadata).not.toHaveProperty('namespace');
  });

  test('what is in one cannot name another', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const other = map('a', { namespace: 'kube-system' });
    expect(await client.request('POST', path, other)).toMatchObject({ code: 400 });
    await client.request('POST', path, map('a'));
    expect(await client.request('PUT', `${path}/a`, other)).toMatchObject({ code: 400 });
  });
});
