import { expect, test } from '@jest/globals';
import { DISKS, MERGE, names, post } from './disks.ts';
import { cleanUp, type Suite } from './server.ts';

export const lists: Suite = (server) => {
  cleanUp(server, DISKS);
  const get = async (query: string) =>
    (await server().client.request('GET', `${DISKS}?${query}`)).body;

  test('pages show one state', async () => {
    for (const name of ['a', 'b', 'c']) await post(server().client, name);
    const first = await get('limit=2');
    expect(names(first)).toEqual(['a', 'b']);
    expect(first.metadata.remainingItemCount).toBe(1);
    await server().client.request('DELETE', `${DISKS}/c`);
    await post(server().client, 'd');
    const next = await get(`limit=2&continue=${first.metadata.continue}`);
    expect(names(next)).toEqual(['c']);
    expect(next.metadata).toEqual({
      continue: '',
      resourceVersion: first.metadata.resourceVersion,
    });
  });

  test('a page of a selection does not say how many are left', async () => {
    for (const name of ['a', 'b', 'c']) await post(server().client, name, { labels: { k: 'v' } });
    const { metadata } = await get('limit=2&labelSelector=k%3Dv');
    expect(metadata).toEqual({ resourceVersion: expect.any(String), continue: expect.any(String) });
  });

  test('an earlier state is listed exactly', async () => {
    const { metadata } = await post(server().client, 'a');
    await post(server().client, 'b');
    const version = `resourceVersion=${metadata.resourceVersion}`;
    expect(names(await get(`${version}&resourceVersionMatch=Exact`))).toEqual(['a']);
    expect(names(await get(`${version}&resourceVersionMatch=NotOlderThan`))).toEqual(['a', 'b']);
    expect(names(await get(version))).toEqual(['a', 'b']);
    expect(names(await get('resourceVersion=0'))).toEqual(['a', 'b']);
  });

  test.each([
    ['k=v', ['a']],
    ['k!=v', ['b', 'c']],
    ['k', ['a', 'b']],
    ['!k', ['c']],
    ['k in (v,w)', ['a', 'b']],
    ['k notin (v)', ['b', 'c']],
    ['k==w,!other', ['b']],
  ])('labelSelector %s', async (selector, expected) => {
    for (const [name, labels] of [
      ['a', { k: 'v' }],
      ['b', { k: 'w' }],
      ['c', {}],
    ] as const)
      await post(server().client, name, { labels });
    expect(names(await get(`labelSelector=${encodeURIComponent(selector)}`))).toEqual(expected);
  });

  test.each([
    ['metadata.name=a', ['a']],
    ['metadata.name!=a', ['b']],
  ])('fieldSelector %s', async (selector, expected) => {
    for (const name of ['a', 'b']) await post(server().client, name);
    expect(names(await get(`fieldSelector=${encodeURIComponent(selector)}`))).toEqual(expected);
  });

  test('a read may not be older than a version', async () => {
    const { metadata } = await post(server().client, 'a');
    const change = { metadata: { labels: { k: 'v' } } };
    await server().client.request('PATCH', `${DISKS}/a`, change, MERGE);
    const read = (version: string) =>
      server().client.request('GET', `${DISKS}/a?resourceVersion=${version}`);
    expect((await read(metadata.resourceVersion)).code).toBe(200);
    expect((await read('0')).code).toBe(200);
  });
};
