import { expect, test } from '@jest/globals';
import { PERSISTENT_VOLUME_CLAIMS, VOLUMES } from '../../../../src/api/resources.ts';
import { plannedWrite, rehearse } from '../../../../src/cli/ui/actions/rehearsal.ts';
import type { Write } from '../../../../src/cli/ui/actions/writes.ts';
import type { Connection } from '../../../../src/kube/connect.ts';
import type { KubeClient, WriteOptions } from '../../../../src/kube/types.ts';
import { refusal } from '../../../support/refusals.ts';
import { volumeNamed } from '../../../support/volumes.ts';

/** Returns a connection that records what reaches the API server. */
function recording(failure?: Error) {
  const sent: [string, boolean | undefined][] = [];
  const write = (verb: string, options: WriteOptions = {}) => {
    sent.push([verb, options.dryRun]);
    if (failure !== undefined) throw failure;
  };
  const client = {
    get: async () => void sent.push(['get', undefined]),
    list: async () => void sent.push(['list', undefined]),
    create: async (_resource: object, _object: object, options?: WriteOptions) =>
      write('create', options),
    patch: async (_resource: object, _name: string, _patch: object, options?: WriteOptions) =>
      write('patch', options),
    delete: async (_resource: object, _name: string, options?: WriteOptions) =>
      write('delete', options),
    // biome-ignore lint/correctness/useYield: it has nothing to yield
    async *watch() {
      sent.push(['watch', undefined]);
    },
  } as unknown as KubeClient;
  const transport = {
    server: 'https://a',
    send: async ({ method }: { method: string }) => void sent.push([method, undefined]),
    // biome-ignore lint/correctness/useYield: it has nothing to yield
    async *stream() {
      sent.push(['stream', undefined]);
    },
  };
  const connection = { client, transport, namespace: 'default' } as unknown as Connection;
  return { sent, ...rehearse(connection) };
}

const planned = (write: Write | undefined) => write && plannedWrite(write);

const ENDS = { name: 'RehearsalEnd' };

test.each<[string, (client: KubeClient) => Promise<unknown>, object]>([
  [
    'create',
    (client) => client.create(VOLUMES, volumeNamed('a')),
    { verb: 'create', kind: 'Volume', name: 'a', manifest: expect.stringContaining('kind: Vol') },
  ],
  [
    'patch',
    (client) => client.patch(PERSISTENT_VOLUME_CLAIMS, 'a', { spec: { x: 1 } }, { namespace: 'b' }),
    {
      ...{ verb: 'change', kind: 'PersistentVolumeClaim', name: 'b/a' },
      manifest: expect.stringContaining('x: 1'),
    },
  ],
  [
    'delete',
    (client) => client.delete(VOLUMES, 'a', { uid: 'u' }),
    { verb: 'delete', kind: 'Volume', name: 'a', manifest: '' },
  ],
])('the first %s is a dry run, and ends the command', async (verb, send, write) => {
  const { connection, sent, write: reached, isOver } = recording();
  expect(isOver()).toBe(false);
  await expect(send(connection.client)).rejects.toMatchObject(ENDS);
  expect(sent).toEqual([[verb, true]]);
  expect(planned(reached())).toEqual(write);
  expect(isOver()).toBe(true);
  // A command that goes on reaches nobody.
  await expect(send(connection.client)).rejects.toMatchObject(ENDS);
  expect(sent).toHaveLength(1);
});

test('a write that the API server refuses is not planned', async () => {
  const { connection, write, isOver } = recording(refusal(403));
  await expect(connection.client.create(VOLUMES, volumeNamed('a'))).rejects.toThrow('no');
  expect(write()).toBeUndefined();
  expect(isOver()).toBe(false);
});

test('reads and dry runs of the command reach the API server', async () => {
  const { connection, sent, isOver } = recording();
  const { client, transport } = connection;
  await client.get(VOLUMES, 'a');
  await client.list(VOLUMES);
  await client.create(VOLUMES, volumeNamed('a'), { dryRun: true });
  await transport.send({ method: 'GET', path: '/' });
  expect(sent.map(([verb]) => verb)).toEqual(['get', 'list', 'create', 'GET']);
  expect(isOver()).toBe(false);
});

test('a watch, and any other request, ends the command', async () => {
  const { connection, sent, isOver } = recording();
  const { client, transport } = connection;
  for (const method of ['POST', 'PATCH', 'DELETE'] as const)
    await expect(transport.send({ method, path: '/' })).rejects.toMatchObject(ENDS);
  await expect(transport.stream({ method: 'GET', path: '/' }).next()).rejects.toMatchObject(ENDS);
  expect(isOver()).toBe(false);
  const watch = client.watch(VOLUMES, { resourceVersion: '1' })[Symbol.asyncIterator]();
  await expect(watch.next()).rejects.toMatchObject(ENDS);
  expect(isOver()).toBe(true);
  expect(sent).toEqual([]);
});

test('a manifest has no credentials of URLs', async () => {
  const { connection, write } = recording();
  const volume = volumeNamed('a');
  volume.metadata.annotations = { source: 'https://ann:hunter2@host/x?sig=1' };
  await expect(connection.client.create(VOLUMES, volume)).rejects.toMatchObject(ENDS);
  const { manifest } = planned(write()) ?? {};
  expect(manifest).toContain('https://…@host/x?…');
  expect(manifest).not.toContain('hunter2');
});
