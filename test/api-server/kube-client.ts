import { beforeAll, expect, test } from '@jest/globals';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { EVENTS } from '../../src/api/resources.ts';
import { listAll } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import { isConflict, isNotFound } from '../../src/kube/errors.ts';
import { createEventRecorder } from '../../src/kube/events.ts';
import { createInformer } from '../../src/kube/informer.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { waitFor } from '../../src/kube/wait.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { memoryLogger } from '../support/logger.ts';
import { until } from '../support/until.ts';
import { DISKS, disk, post } from './disks.ts';
import { cleanUp, type Suite } from './server.ts';

const DISK: Resource = {
  group: 'example.com',
  version: 'v1',
  plural: 'disks',
  kind: 'Disk',
  namespaced: false,
};
const EVENTS_PATH = '/api/v1/namespaces/default/events';

/** Stowage's client, informer, wait and event recorder with the responses of a server. */
export const kubeClient: Suite = (server) => {
  cleanUp(server, DISKS, EVENTS_PATH);
  let client: KubeClient;
  beforeAll(async () => {
    ({ client } = await connect({ kubeconfig: server().kubeconfig }));
  });

  test('reads all pages, with the kind in every item', async () => {
    for (const name of ['a', 'b', 'c']) await post(server().client, name);
    const { items } = await listAll(client, DISK);
    expect(
      items.map(({ kind, apiVersion, metadata }) => [kind, apiVersion, metadata.name]),
    ).toEqual([
      ['Disk', 'example.com/v1', 'a'],
      ['Disk', 'example.com/v1', 'b'],
      ['Disk', 'example.com/v1', 'c'],
    ]);
    const page = await client.list(DISK, { limit: 2 });
    const rest = await client.list(DISK, { limit: 2, continue: page.metadata.continue });
    expect([...page.items, ...rest.items]).toEqual(items);
  });

  test('tells refusals apart', async () => {
    const { metadata } = await post(server().client, 'a');
    await client.patch(DISK, 'a', { metadata: { labels: { a: 'b' } } });
    const failed = async (doing: Promise<unknown>) =>
      doing.then(() => undefined).catch((error) => error);
    expect(isNotFound(await failed(client.get(DISK, 'none')))).toBe(true);
    const version = { metadata: { resourceVersion: metadata.resourceVersion, labels: { a: 'c' } } };
    expect(isConflict(await failed(client.patch(DISK, 'a', version)))).toBe(true);
    expect(isConflict(await failed(client.delete(DISK, 'a', { uid: 'other' })))).toBe(true);
    const exists = await failed(client.create(DISK, disk('a')));
    expect([exists.reason, isConflict(exists)]).toEqual(['AlreadyExists', false]);
    const strict = disk('b', {}, { nodeName: 'n', huh: 1 });
    expect(await failed(client.create(DISK, strict, { strict: true }))).toMatchObject({
      statusCode: 400,
    });
    await client.create(DISK, disk('b'), { dryRun: true });
    expect(isNotFound(await failed(client.get(DISK, 'b')))).toBe(true);
  });

  test('an informer follows what changes', async () => {
    await post(server().client, 'a');
    const logger = memoryLogger();
    const informer = createInformer({
      client,
      resource: DISK,
      clock: systemClock,
      random: () => 0,
      logger,
    });
    const seen: string[] = [];
    informer.onChange(({ type, object }) => {
      seen.push(`${type} ${object.metadata.name}`);
    });
    informer.start();
    await informer.synced;
    await post(server().client, 'b');
    await client.patch(DISK, 'a', { spec: { mode: 'Block' } });
    await client.delete(DISK, 'b');
    await until('the informer reports four events', async () => seen.length === 4 || undefined);
    expect(seen).toEqual(['added a', 'added b', 'updated a', 'deleted b']);
    expect(informer.get('a')).toMatchObject({ spec: { mode: 'Block' } });
    await informer.stop();
    expect(logger.lines).toEqual([]);
  });

  test('waits for a change, and for a deletion that something holds', async () => {
    await post(server().client, 'a', { finalizers: ['example.com/f'] });
    const waiting = { clock: systemClock, timeoutMs: 10_000 };
    const labelled = waitFor(client, DISK, 'a', {
      ...waiting,
      until: (object) => object?.metadata.labels?.a === 'b',
    });
    await client.patch(DISK, 'a', { metadata: { labels: { a: 'b' } } });
    expect(await labelled).toMatchObject({ metadata: { labels: { a: 'b' } } });
    const gone = waitFor(client, DISK, 'a', {
      ...waiting,
      until: (object) => object === undefined,
    });
    await client.delete(DISK, 'a');
    expect(await client.get(DISK, 'a')).toHaveProperty('metadata.deletionTimestamp');
    await client.patch(DISK, 'a', { metadata: { finalizers: null } });
    expect(await gone).toBeUndefined();
  });

  test('events of a cluster-scoped object are kept, and counted', async () => {
    const object: KubeObject = await client.create(DISK, disk('a'));
    const logger = memoryLogger();
    const recorder = createEventRecorder({
      client,
      clock: systemClock,
      component: 'stowage',
      host: 'host1',
      logger,
    });
    for (let i = 0; i < 3; i += 1) recorder.event(object, 'Warning', 'Refused', 'no');
    await recorder.flush(5000);
    expect(logger.lines).toEqual([]);
    const { items } = await client.list(EVENTS, {
      fieldSelector: `involvedObject.uid=${object.metadata.uid},reason=Refused,type=Warning`,
    });
    expect(items).toMatchObject([
      {
        metadata: { namespace: 'default' },
        count: 3,
        message: 'no',
        source: { component: 'stowage' },
      },
    ]);
  });
};
