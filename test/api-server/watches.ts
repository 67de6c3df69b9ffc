import { expect, test } from '@jest/globals';
import { DISKS, disk, MERGE, post } from './disks.ts';
import { cleanUp, type Suite } from './server.ts';

export const watches: Suite = (server) => {
  cleanUp(server, DISKS);
  const watch = (query: string) => server().client.watch(`${DISKS}?watch=1&${query}`);
  /** Returns the first events of a watch in short form, or all events if it ends earlier. */
  const collect = async (query: string, count = 99) => {
    const seen: string[] = [];
    for await (const { type, object } of watch(query)) {
      seen.push(`${type} ${object.metadata?.name ?? object.reason ?? ''}`.trim());
      if (seen.length === count) break;
    }
    return seen;
  };

  test('replay what came after a version', async () => {
    const { metadata } = await post(server().client, 'a');
    await post(server().client, 'b');
    await server().client.request('DELETE', `${DISKS}/a`);
    const query = `resourceVersion=${metadata.resourceVersion}&timeoutSeconds=9`;
    expect(await collect(query, 2)).toEqual(['ADDED b', 'DELETED a']);
  });

  test('that stream a list tell when it is through', async () => {
    await post(server().client, 'a');
    await post(server().client, 'b');
    const seen: [string, unknown][] = [];
    const query =
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    for await (const { type, object } of watch(`${query}&timeoutSeconds=9`)) {
      seen.push([type, type === 'BOOKMARK' ? object.metadata.annotations : object.metadata.name]);
      if (type === 'BOOKMARK') break;
    }
    expect(seen).toEqual([
      ['ADDED', 'a'],
      ['ADDED', 'b'],
      ['BOOKMARK', { 'k8s.io/initial-events-end': 'true' }],
    ]);
  });

  test('a deletion carries the last state under its own version', async () => {
    const { metadata } = await post(server().client, 'a');
    await server().client.request('DELETE', `${DISKS}/a`);
    for await (const { type, object } of watch(`resourceVersion=${metadata.resourceVersion}`)) {
      expect([type, object.spec, object.metadata.uid]).toEqual([
        'DELETED',
        { mode: 'Filesystem', nodeName: 'n1' },
        metadata.uid,
      ]);
      expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(
        Number(metadata.resourceVersion),
      );
      break;
    }
  });

  test.each(['', 'resourceVersion=0&'])(
    'without a version begin with what there is: %j',
    async (query) => {
      await post(server().client, 'a');
      await post(server().client, 'b');
      expect(await collect(`${query}timeoutSeconds=9`, 2)).toEqual(['ADDED a', 'ADDED b']);
    },
  );

  test('of a version long past send one error', async () =>
    expect(await collect('resourceVersion=1')).toEqual(['ERROR Expired']));

  test('see an object leave and enter their selection', async () => {
    const { metadata } = await post(server().client, 'a', { labels: { k: 'v' } });
    for (const k of ['w', 'v'])
      await server().client.request('PATCH', `${DISKS}/a`, { metadata: { labels: { k } } }, MERGE);
    const query = `resourceVersion=${metadata.resourceVersion}&labelSelector=k=v&timeoutSeconds=9`;
    expect(await collect(query, 2)).toEqual(['DELETED a', 'ADDED a']);
  });

  test('of one object hear of it alone', async () => {
    const { metadata } = await post(server().client, 'a');
    await post(server().client, 'b');
    await server().client.request('PUT', `${DISKS}/a`, {
      ...disk('a', { resourceVersion: metadata.resourceVersion }),
      spec: { nodeName: 'n1', mode: 'Block' },
    });
    const query = `fieldSelector=metadata.name%3Da&resourceVersion=${metadata.resourceVersion}&timeoutSeconds=9`;
    expect(await collect(query, 1)).toEqual(['MODIFIED a']);
  });

  test('end in good order after their time', async () => {
    const { metadata } = await post(server().client, 'a');
    expect(await collect(`resourceVersion=${metadata.resourceVersion}&timeoutSeconds=1`)).toEqual(
      [],
    );
  });

  test('show objects in the version that is watched, whichever they were written in', async () => {
    const grants = (version: string) =>
      `/apis/gateway.networking.k8s.io/${version}/namespaces/default/referencegrants`;
    const write = async (version: string, name: string) => {
      const spec = {
        from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: 'test' }],
        to: [{ group: '', kind: 'Secret' }],
      };
      const grant = { apiVersion: `gateway.networking.k8s.io/${version}`, kind: 'ReferenceGrant' };
      const body = { ...grant, metadata: { name }, spec };
      expect((await server().client.request('POST', grants(version), body)).code).toBe(201);
    };
    await write('v1beta1', 'a');
    const seen: string[] = [];
    for await (const { type, object } of server().client.watch(`${grants('v1')}?watch=1`)) {
      seen.push(`${type} ${object.apiVersion} ${object.metadata.name}`);
      if (seen.length === 1) await write('v1beta1', 'b');
      if (seen.length === 2) await server().client.request('DELETE', `${grants('v1beta1')}/a`);
      if (seen.length === 3) break;
    }
    await server().client.request('DELETE', `${grants('v1')}/b`);
    expect(seen).toEqual(
      ['ADDED a', 'ADDED b', 'DELETED a'].map((one) =>
        one.replace(' ', ' gateway.networking.k8s.io/v1 '),
      ),
    );
  });
};
