import { describe, expect, test } from '@jest/globals';
import { DISKS, disk, MERGE, names, post } from './disks.ts';
import { cleanUp, type Suite } from './server.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

export const writes: Suite = (server) => {
  cleanUp(server, DISKS, CONFIG_MAPS);
  const request = (...call: Parameters<ReturnType<typeof server>['client']['request']>) =>
    server().client.request(...call);

  test('create stamps what the server owns', async () => {
    const { status, metadata } = await post(server().client, 'a', {
      uid: 'mine',
      generation: 9,
      creationTimestamp: '2020-01-02T03:04:05Z',
    });
    expect(status).toBeUndefined();
    expect(metadata).toMatchObject({
      name: 'a',
      uid: expect.not.stringMatching('mine'),
      resourceVersion: expect.stringMatching(/^\d+$/),
      generation: 1,
      creationTimestamp: expect.not.stringMatching('^2020'),
    });
  });

  test.each([
    ['Big', 422],
    ['a_b', 422],
    ['a.b-c', 201],
    ['-a', 422],
    ['a'.repeat(254), 422],
  ])('name %s is answered %i', async (name, code) =>
    expect((await request('POST', DISKS, disk(name))).code).toBe(code),
  );

  test('an update must name the version it changes, and the latest one', async () => {
    const first = await post(server().client, 'a');
    const put = (metadata: object) =>
      request('PUT', `${DISKS}/a`, { ...first, metadata: { ...first.metadata, ...metadata } });
    expect((await put({ labels: { k: 'v' } })).code).toBe(200);
    expect(await put({ labels: { k: 'w' } })).toMatchObject({
      code: 409,
      body: { reason: 'Conflict' },
    });
    expect((await put({ resourceVersion: undefined })).code).toBe(422);
    const patch = {
      metadata: { resourceVersion: first.metadata.resourceVersion, labels: { k: 'x' } },
    };
    expect((await request('PATCH', `${DISKS}/a`, patch, MERGE)).code).toBe(409);
  });

  test('an update that changes nothing writes nothing', async () => {
    const { metadata } = await post(server().client, 'a');
    const { body } = await request('PATCH', `${DISKS}/a`, { spec: { nodeName: 'n1' } }, MERGE);
    expect(body.metadata.resourceVersion).toEqual(metadata.resourceVersion);
  });

  test('generation counts changes of the spec only', async () => {
    await post(server().client, 'a');
    const patch = async (path: string, body: object) =>
      (await request('PATCH', `${DISKS}/a${path}`, body, MERGE)).body.metadata.generation;
    expect(await patch('', { metadata: { labels: { k: 'v' } }, status: { phase: 'Ready' } })).toBe(
      1,
    );
    expect(await patch('/status', { status: { phase: 'Ready' }, spec: { mode: 'Block' } })).toBe(1);
    expect(await patch('', { spec: { mode: 'Block' } })).toBe(2);
    const { body } = await request('GET', `${DISKS}/a`);
    expect([body.spec.mode, body.status]).toEqual(['Block', { phase: 'Ready' }]);
  });

  test('the keys of what has no Go type come back in the order of their text, also in lists', async () => {
    await request(
      'POST',
      DISKS,
      disk('a', {}, { size: 1, nodeName: 'n', template: { b: 1, a: [{ d: 1, c: 2 }] } }),
    );
    const status = { phase: 'Ready', conditions: [{ type: 'Ready', status: 'True' }] };
    await request('PATCH', `${DISKS}/a/status`, { status }, MERGE);
    const { body } = await request('GET', `${DISKS}/a`);
    const text = ({ spec, status }: Record<string, unknown>) => JSON.stringify({ spec, status });
    expect(text(body)).toBe(
      text({
        spec: {
          mode: 'Filesystem',
          nodeName: 'n',
          size: 1,
          template: { a: [{ c: 2, d: 1 }], b: 1 },
        },
        status: { conditions: [{ status: 'True', type: 'Ready' }], phase: 'Ready' },
      }),
    );
  });

  test('unknown fields are warned about, and dropped', async () => {
    const object = disk('a', {}, { nodeName: 'n', foo: 1 });
    const { body, headers } = await request('POST', `${DISKS}?fieldValidation=Warn`, object);
    expect(headers.warning).toBe('299 - "unknown field \\"spec.foo\\""');
    expect(body.spec).toEqual({ nodeName: 'n', mode: 'Filesystem' });
  });

  describe('a delete', () => {
    test('heeds its preconditions', async () => {
      const { metadata } = await post(server().client, 'a');
      const remove = (preconditions: object) => request('DELETE', `${DISKS}/a`, { preconditions });
      expect((await remove({ uid: 'other' })).code).toBe(409);
      expect((await remove({ resourceVersion: '1' })).code).toBe(409);
      const { body } = await remove({
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      });
      expect(body).toMatchObject({ status: 'Success', details: { name: 'a', uid: metadata.uid } });
    });

    test('of a collection heeds the selector', async () => {
      await post(server().client, 'a', { labels: { k: 'v' } });
      await post(server().client, 'b');
      await request('DELETE', `${DISKS}?labelSelector=k=v`);
      expect(names((await request('GET', DISKS)).body)).toEqual(['b']);
    });
  });

  test('an object whose owner is gone already is collected', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' };
    const unserved = { ...owner, apiVersion: 'example.com/v1', kind: 'Tape' };
    const make = (name: string, ownerReference: object) =>
      request('POST', CONFIG_MAPS, { metadata: { name, ownerReferences: [ownerReference] } });
    const { body } = await request('GET', CONFIG_MAPS);
    const events = server().client.watch(
      `${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
    );
    await make('kept', unserved);
    await make('a', owner);
    const seen: string[] = [];
    for await (const { type, object } of events) {
      seen.push(`${type} ${object.metadata.name}`);
      if (type === 'DELETED') break;
    }
    expect(seen).toEqual(['ADDED kept', 'ADDED a', 'DELETED a']);
  });
};
