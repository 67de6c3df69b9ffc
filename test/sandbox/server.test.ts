import { createConnection } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { VOLUME_CRD } from '../../src/api/volume-crd.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { type Client, clientFor } from './client.ts';
import { DISK_CRD } from './disk-crd.ts';

const NOW = new Date('2026-01-02T03:04:05.678Z');
const DISKS = '/apis/example.com/v1/disks';
const MERGE = { 'content-type': 'application/merge-patch+json' };

let sandbox: Sandbox;
let client: Client;
beforeEach(async () => {
  sandbox = await startSandbox({ crds: [DISK_CRD, VOLUME_CRD], now: () => NOW });
  client = clientFor(sandbox);
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
});

const disk = (name: string, metadata: object = {}, spec: object = { nodeName: 'n1' }) => ({
  metadata: { name, ...metadata },
  spec,
});
const post = async (name: string, metadata: object = {}) =>
  (await client.request('POST', DISKS, disk(name, metadata))).body;
const names = (list: { items: { metadata: { name: string } }[] }) =>
  list.items.map(({ metadata }) => metadata.name);

describe('who is admitted', () => {
  test.each([
    ['no token', { authorization: '' }, 401],
    ['another token', { authorization: 'Bearer x' }, 401],
    ['another Host', { host: 'evil.example' }, 403],
    ['no Host port', { host: '127.0.0.1' }, 403],
    ['the right ones', {}, 200],
  ])('%s', async (_, headers, code) => {
    for (const path of ['/version', '/readyz', '/api/v1/nodes'])
      expect((await client.request('GET', path, undefined, headers as Record<string, string>)).code).toBe(
        code,
      );
  });

  test('only over TLS', async () => {
    const socket = createConnection(Number(new URL(sandbox.url).port), '127.0.0.1');
    socket.write('GET /version HTTP/1.1\r\nHost: x\r\n\r\n');
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).not.toContain('gitVersion');
  });
});

test('what old kubectl downloads before it validates is a gnostic Document', async () => {
  const { body, headers } = await client.request('GET', '/openapi/v2');
  expect(headers['content-type']).toContain('spec.v2.v1.0+protobuf');
  expect(body).toBe(
    '\n\x032.0\x12\x1b\n\x10Stowage sandbox\x12\x07v1.32.0B\x00'.replace('\x1b\n\x10', '\x1a\n\x0f'),
  );
});

describe('writes', () => {
  test('create stamps what the server owns', async () => {
    const { status, metadata } = await post('a', {
      uid: 'mine',
      resourceVersion: '5',
      generation: 9,
      managedFields: [],
    });
    expect(status).toBeUndefined();
    expect(metadata).toEqual({
      name: 'a',
      uid: expect.not.stringMatching('mine'),
      resourceVersion: expect.stringMatching(/^\d+$/),
      generation: 1,
      creationTimestamp: '2026-01-02T03:04:05Z',
    });
  });

  test.each([
    ['Big', 422],
    ['a_b', 422],
    ['a.b-c', 201],
    ['-a', 422],
    ['a'.repeat(254), 422],
  ])('name %.20s is answered %i', async (name, code) =>
    expect((await client.request('POST', DISKS, disk(name))).code).toBe(code),
  );

  test('an update must name the version it changes, and the latest one', async () => {
    const first = await post('a');
    const put = (metadata: object) =>
      client.request('PUT', `${DISKS}/a`, { ...first, metadata: { ...first.metadata, ...metadata } });
    expect((await put({ labels: { k: 'v' } })).code).toBe(200);
    expect(await put({ labels: { k: 'w' } })).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect((await put({ resourceVersion: undefined })).code).toBe(422);
    const patch = { metadata: { resourceVersion: first.metadata.resourceVersion, labels: { k: 'x' } } };
    expect((await client.request('PATCH', `${DISKS}/a`, patch, MERGE)).code).toBe(409);
  });

  test('an update that changes nothing writes nothing', async () => {
    const { metadata } = await post('a');
    const { body } = await client.request('PATCH', `${DISKS}/a`, { spec: { nodeName: 'n1' } }, MERGE);
    expect(body.metadata).toEqual(metadata);
  });

  test('generation counts changes of the spec only', async () => {
    await post('a');
    const patch = async (path: string, body: object) =>
      (await client.request('PATCH', `${DISKS}/a${path}`, body, MERGE)).body.metadata.generation;
    expect(await patch('', { metadata: { labels: { k: 'v' } }, status: { phase: 'Ready' } })).toBe(1);
    expect(await patch('/status', { status: { phase: 'Ready' }, spec: { mode: 'Block' } })).toBe(1);
    expect(await patch('', { spec: { mode: 'Block' } })).toBe(2);
    const { body } = await client.request('GET', `${DISKS}/a`);
    expect([body.spec.mode, body.status]).toEqual(['Block', { phase: 'Ready' }]);
  });

  test('unknown fields are warned about, and dropped', async () => {
    const { body, headers } = await client.request(
      'POST',
      `${DISKS}?fieldValidation=Warn`,
      disk('a', {}, { nodeName: 'n', foo: 1 }),
    );
    expect(headers.warning).toBe('299 - "unknown field \\"spec.foo\\""');
    expect(body.spec).toEqual({ nodeName: 'n', mode: 'Filesystem' });
  });

  test.each(['application/strategic-merge-patch+json', 'application/apply-patch+yaml'])(
    '415 for %s',
    async (type) => {
      await post('a');
      expect((await client.request('PATCH', `${DISKS}/a`, {}, { 'content-type': type })).code).toBe(415);
    },
  );

  test('a delete heeds its preconditions', async () => {
    const { metadata } = await post('a');
    const remove = (preconditions: object) => client.request('DELETE', `${DISKS}/a`, { preconditions });
    expect((await remove({ uid: 'other' })).code).toBe(409);
    expect((await remove({ resourceVersion: '1' })).code).toBe(409);
    const { body } = await remove({ uid: metadata.uid, resourceVersion: metadata.resourceVersion });
    expect(body).toMatchObject({ status: 'Success', details: { name: 'a', uid: metadata.uid } });
  });

  test('deletecollection heeds the selector', async () => {
    await post('a', { labels: { k: 'v' } });
    await post('b');
    await client.request('DELETE', `${DISKS}?labelSelector=k=v`);
    expect(names((await client.request('GET', DISKS)).body)).toEqual(['b']);
  });

  test('an object whose owner is gone already is collected', async () => {
    const owner = { apiVersion: 'example.com/v1', kind: 'Disk', name: 'gone', uid: 'gone' };
    const unserved = { ...owner, kind: 'Tape' };
    const { body } = await client.request('GET', DISKS);
    const events = client.watch(`${DISKS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    await post('kept', { ownerReferences: [unserved] });
    await post('a', { ownerReferences: [owner] });
    const seen: string[] = [];
    for await (const { type, object } of events) {
      seen.push(`${type} ${object.metadata.name}`);
      if (type === 'DELETED') break;
    }
    expect(seen).toEqual(['ADDED kept', 'ADDED a', 'DELETED a']);
  });
});

describe('pages', () => {
  test('show one state', async () => {
    for (const name of ['a', 'b', 'c']) await post(name);
    const first = (await client.request('GET', `${DISKS}?limit=2`)).body;
    expect(names(first)).toEqual(['a', 'b']);
    await client.request('DELETE', `${DISKS}/c`);
    await post('d');
    const { body } = await client.request('GET', `${DISKS}?limit=2&continue=${first.metadata.continue}`);
    expect(names(body)).toEqual(['c']);
    expect(body.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
  });

  test('of a state long past are 410, and of no state 400', async () => {
    const token = (state: object) => Buffer.from(JSON.stringify(state)).toString('base64url');
    const get = (state: object) => client.request('GET', `${DISKS}?continue=${token(state)}`);
    expect(await get({ version: 1, key: '' })).toMatchObject({ code: 410, body: { reason: 'Expired' } });
    expect((await get({})).code).toBe(400);
  });
});

describe('watches', () => {
  const collect = async (query: string) => {
    const seen: string[] = [];
    for await (const { type, object } of client.watch(`${DISKS}?watch=1&${query}`))
      seen.push(`${type} ${object.metadata?.name ?? object.reason ?? object.metadata.resourceVersion}`);
    return seen;
  };

  test('replay what came after a version, and end in a bookmark', async () => {
    const { metadata } = await post('a');
    await post('b');
    await client.request('DELETE', `${DISKS}/a`);
    const { body } = await client.request('GET', DISKS);
    const query = `resourceVersion=${metadata.resourceVersion}&timeoutSeconds=1&allowWatchBookmarks=true`;
    expect(await collect(query)).toEqual([
      'ADDED b',
      'DELETED a',
      `BOOKMARK ${body.metadata.resourceVersion}`,
    ]);
  });

  test('of a version long past send one error', async () =>
    expect(await collect('resourceVersion=1')).toEqual(['ERROR Expired']));

  test('see an object leave and enter their selection', async () => {
    const { metadata } = await post('a', { labels: { k: 'v' } });
    for (const k of ['w', 'v'])
      await client.request('PATCH', `${DISKS}/a`, { metadata: { labels: { k } } }, MERGE);
    const query = `resourceVersion=${metadata.resourceVersion}&labelSelector=k=v&timeoutSeconds=1`;
    expect(await collect(query)).toEqual(['DELETED a', 'ADDED a']);
  });

  test('refuse to begin with a list', async () =>
    expect((await client.request('GET', `${DISKS}?watch=1&sendInitialEvents=true`)).code).toBe(422));

  test('end when the server stops', async () => {
    const ended = collect('resourceVersion=0').catch(() => 'ended');
    await post('a');
    await sandbox.stop();
    await ended;
  });
});
