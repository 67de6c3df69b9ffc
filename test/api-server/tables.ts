import { expect, test } from '@jest/globals';
import { DISKS, post } from './disks.ts';
import { cleanUp, type Suite } from './server.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** Responses as tables, depending on the accepted types. */
export const asTables: Suite = (server) => {
  cleanUp(server, DISKS);
  const get = (path: string, accept: string) =>
    server().client.request('GET', path, undefined, { accept });

  test.each<[string, number, string | undefined]>([
    ['', 200, 'DiskList'],
    ['application/json', 200, 'DiskList'],
    ['*/*', 200, 'DiskList'],
    [`${TABLE},application/json`, 200, 'Table'],
    [`application/json, ${TABLE}`, 200, 'DiskList'],
    ['application/json;as=Table;v=v1alpha1;g=meta.k8s.io,application/json', 200, 'DiskList'],
    ['application/vnd.kubernetes.protobuf,application/json', 200, 'DiskList'],
    [
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      200,
      'PartialObjectMetadataList',
    ],
  ])('%j is answered %i %s', async (accept, code, kind) =>
    expect(await get(DISKS, accept)).toMatchObject({ code, body: { kind } }),
  );

  test('a list keeps its page, and rows carry what is asked for', async () => {
    for (const name of ['a', 'b']) await post(server().client, name);
    const { body } = await get(`${DISKS}?limit=1`, TABLE);
    expect(body).toMatchObject({
      apiVersion: 'meta.k8s.io/v1',
      metadata: { continue: expect.any(String), remainingItemCount: 1 },
      columnDefinitions: [
        { name: 'Name', type: 'string', format: 'name', priority: 0 },
        { name: 'Age' },
      ],
      rows: [{ cells: ['a', expect.any(String)], object: { kind: 'PartialObjectMetadata' } }],
    });
    const object = async (include: string) =>
      (await get(`${DISKS}/a?includeObject=${include}`, TABLE)).body.rows?.[0].object?.kind;
    expect([await object('None'), await object('Object')]).toEqual([undefined, 'Disk']);
    expect((await get(`${DISKS}?includeObject=All`, TABLE)).code).toBe(400);
  });

  test('a watch names the columns once, and keeps errors', async () => {
    const { metadata } = await post(server().client, 'a');
    for (const name of ['b', 'c']) await post(server().client, name);
    const seen = [];
    const query = `watch=1&resourceVersion=${metadata.resourceVersion}&timeoutSeconds=9`;
    for await (const { type, object } of server().client.watch(`${DISKS}?${query}`, {
      accept: TABLE,
    })) {
      seen.push([type, object.kind, object.columnDefinitions?.length, object.rows.length]);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual([
      ['ADDED', 'Table', 2, 1],
      ['ADDED', 'Table', undefined, 1],
    ]);
    for await (const { type, object } of server().client.watch(
      `${DISKS}?watch=1&resourceVersion=1`,
      {
        accept: TABLE,
      },
    ))
      expect([type, object.kind]).toEqual(['ERROR', 'Status']);
  });
};
