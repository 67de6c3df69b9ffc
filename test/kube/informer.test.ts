import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { KubeObject } from '../../src/api/meta.ts';
import { createInformer, type Informer } from '../../src/kube/informer.ts';
import { type FakeApi, fakeApi, json, status, WIDGETS, widget } from '../support/fake-api.ts';
import { FakeClock, until } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';

let api: FakeApi;
let clock: FakeClock;
let logger: ReturnType<typeof memoryLogger>;
let informer: Informer<KubeObject>;
let told: string[];
/** Next responses of the server. The last of each is repeated. */
let lists: ((response: ServerResponse) => void)[];
let watches: ((response: ServerResponse) => void)[];
/** Watches that are or were open, with their versions and responses. */
let opened: { version: string | null; response: ServerResponse }[];

const listOf =
  (version: number, ...items: object[]) =>
  (response: ServerResponse) =>
    json(response, { metadata: { resourceVersion: String(version) }, items });
const open = (response: ServerResponse) => response.flushHeaders();
const send = (response: ServerResponse | undefined, type: string, object: object) =>
  response?.write(`${JSON.stringify({ type, object })}\n`);
const bookmark = (version: number) => ({
  kind: 'Widget',
  metadata: { resourceVersion: String(version) },
});
const listed = () => api.seen.filter(({ url }) => !url.includes('watch=true')).length;
const last = () => opened.at(-1)?.response;

function first<T>(queue: T[]): T {
  const next = queue.length > 1 ? queue.shift() : queue[0];
  if (next === undefined) throw new Error('the script is empty');
  return next;
}

beforeEach(async () => {
  clock = new FakeClock();
  logger = memoryLogger();
  told = [];
  opened = [];
  lists = [listOf(10, widget('a', 5))];
  watches = [open];
  api = await fakeApi(({ url }, response) => {
    if (!url.includes('watch=true')) return first(lists)(response);
    opened.push({
      version: new URL(url, 'http://x').searchParams.get('resourceVersion'),
      response,
    });
    first(watches)(response);
  });
  informer = createInformer({
    client: api.client,
    resource: WIDGETS,
    clock,
    random: () => 0,
    logger,
  });
  informer.onChange(({ type, object }) => {
    told.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`);
  });
});

afterEach(async () => {
  await informer.stop();
  await api.close();
});

/** Waits for the nth watch, advancing through backoffs. */
async function watching(n: number): Promise<void> {
  while (opened.length < n) {
    if (clock.sleeping.some((ms) => ms <= 30_000)) await clock.advance(30_000);
    else await until(() => opened.length >= n || clock.sleeping.some((ms) => ms <= 30_000));
  }
}

async function started(): Promise<void> {
  informer.start();
  await informer.synced;
  await watching(1);
}

test('lists, then watches from the version of the list', async () => {
  expect(informer.hasSynced()).toBe(false);
  await started();
  expect([informer.hasSynced(), informer.list(), opened[0]?.version]).toEqual([
    true,
    [widget('a', 5)],
    '10',
  ]);
  send(last(), 'MODIFIED', widget('a', 11));
  send(last(), 'ADDED', widget('b', 12));
  send(last(), 'DELETED', widget('a', 13));
  await until(() => told.length === 4);
  expect(told).toEqual(['added a@5', 'updated a@11', 'added b@12', 'deleted a@11']);
  expect(informer.get('b')).toEqual(widget('b', 12));
});

test('stores the result of transform', async () => {
  lists = [listOf(10, widget('a', 5, { spec: 1 }))];
  await informer.stop();
  informer = createInformer({
    ...{ client: api.client, resource: WIDGETS, clock, random: () => 0, logger },
    transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
  });
  await started();
  informer.recordWrite(widget('b', 11, { spec: 2 }));
  expect(informer.list()).toEqual([widget('a', 5), widget('b', 11)]);
});

test('a handler that throws is logged, and stops neither the others nor the watch', async () => {
  informer.onChange(() => {
    throw new Error('handler');
  });
  const others: string[] = [];
  informer.onChange(({ type }) => others.push(type));
  await started();
  send(last(), 'ADDED', widget('b', 12));
  await until(() => others.length === 2);
  expect(logger.lines.map(({ level, fields }) => [level, fields.name])).toEqual([
    ['error', 'a'],
    ['error', 'b'],
  ]);
});

test('lists again after a dropped connection, even if the server has older versions', async () => {
  await started();
  send(last(), 'ADDED', widget('b', 12));
  send(last(), 'BOOKMARK', bookmark(15));
  lists = [listOf(8, widget('a', 4))];
  last()?.write('{"type":"ADDED","obj', () => last()?.destroy());
  await watching(2);
  expect([opened[1]?.version, listed()]).toEqual(['8', 2]);
  expect(told).toEqual(['added a@5', 'added b@12', 'updated a@4', 'deleted b@12']);
  send(last(), 'ADDED', widget('c', 9));
  await until(() => informer.get('c') !== undefined);
});

test('resumes without delay or list after the server ends a watch at its timeout', async () => {
  await started();
  await clock.advance(150_000);
  send(last(), 'ADDED', widget('b', 12));
  await until(() => told.length === 2);
  await clock.advance(150_000);
  last()?.end();
  await until(() => opened.length === 2);
  expect([opened[1]?.version, listed(), logger.lines]).toEqual(['12', 1, []]);
});

test('lists again without delay if the server ends a watch early, as on its shutdown', async () => {
  await started();
  send(last(), 'ADDED', widget('b', 12));
  await until(() => told.length === 2);
  await clock.advance(2000);
  lists = [listOf(40, widget('a', 4))];
  last()?.end();
  await until(() => opened.length === 2);
  expect([opened[1]?.version, told.slice(2), logger.lines]).toEqual([
    '40',
    ['updated a@4', 'deleted b@12'],
    [],
  ]);
});

test('watches that end at once are failures, with backoff', async () => {
  watches = [(response) => response.end()];
  informer.start();
  await until(() => logger.lines.length === 1);
  // Half of 1 s, as random is 0.
  expect([opened.length, clock.sleeping]).toEqual([1, [500]]);
  await clock.advance(500);
  await until(() => logger.lines.length === 2);
  expect(clock.sleeping).toEqual([1000]);
});

test.each([
  [
    'a 410 as an ERROR event',
    (r: ServerResponse) => json(r, { type: 'ERROR', object: status(410, 'Expired') }),
  ],
  ['a 410 as an answer', (r: ServerResponse) => json(r, status(410, 'Expired'), 410)],
  ['any other error', (r: ServerResponse) => json(r, status(500, 'InternalError'), 500)],
])('lists again after %s, and reports objects that are gone', async (_, fail) => {
  watches = [fail, open];
  lists = [listOf(10, widget('a', 5)), listOf(30, widget('b', 25))];
  informer.start();
  await watching(2);
  expect([opened[1]?.version, listed()]).toEqual(['30', 2]);
  expect(told).toEqual(['added a@5', 'added b@25', 'deleted a@5']);
});

test.each<[string, () => Promise<void>]>([
  [
    'an event',
    async () => {
      send(last(), 'ADDED', widget('b', 12));
      await until(() => informer.get('b') !== undefined);
    },
  ],
  [
    'a quiet watch that ended without an error',
    async () => {
      await clock.advance(2000);
      last()?.end();
      await watching(4);
    },
  ],
])('resets the failure count after %s', async (_, recover) => {
  const fail = (r: ServerResponse) => json(r, status(500, 'InternalError'), 500);
  watches = [fail, fail, open];
  informer.start();
  await watching(3);
  await recover();
  last()?.destroy();
  await until(() => logger.lines.length === 3);
  expect(logger.lines.map(({ fields }) => fields.failures)).toEqual([1, 2, 1]);
});

test('retries failed lists with increasing delay', async () => {
  lists = [(r) => r.destroy(), (r) => r.destroy(), (r) => json(r, status(500, 'x'), 500), ...lists];
  informer.start();
  await watching(1);
  expect(logger.lines.map(({ fields }) => fields.delay)).toEqual([500, 1000]);
  expect(informer.hasSynced()).toBe(true);
});

test('replaces a half-open connection after three silent minutes', async () => {
  await started();
  await until(() => clock.sleeping.length === 1);
  await clock.advance(120_000);
  send(last(), 'BOOKMARK', bookmark(20));
  const before = informer.lastHeard();
  await until(() => informer.lastHeard() > before);
  await clock.advance(179_000);
  expect([opened.length, logger.lines.length]).toEqual([1, 0]);
  lists = [listOf(7)];
  await clock.advance(1000);
  await watching(2);
  expect([opened[1]?.version, informer.list()]).toEqual(['7', []]);
  expect(String(logger.lines[0]?.fields.err)).toMatch(/no data for 180000 ms/);
});

test('lists again at the end of the first watch after the relist interval', async () => {
  await started();
  lists = [listOf(50, widget('z', 50))];
  for (let minutes = 0; minutes < 24; minutes += 2) {
    send(last(), 'BOOKMARK', bookmark(11 + minutes));
    const now = clock.now();
    await until(() => informer.lastHeard() === now);
    await clock.advance(120_000);
  }
  last()?.end();
  await watching(2);
  expect(opened[1]?.version).toBe('50');
  expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['z']);
});

test.each([
  ['an event', 'ADDED', widget('b', 3)],
  ['a bookmark', 'BOOKMARK', bookmark(3)],
])(
  'lists again after %s older than the list, as from a restored server',
  async (_, type, object) => {
    await started();
    lists = [listOf(4, widget('a', 2))];
    send(last(), type, object);
    await watching(2);
    expect([opened[1]?.version, informer.list()]).toEqual(['4', [widget('a', 2)]]);
    send(last(), 'MODIFIED', widget('a', 5));
    await until(() => informer.get('a')?.metadata.resourceVersion === '5');
  },
);

test('applies the response of a write at once, and reports it once', async () => {
  await started();
  informer.recordWrite(widget('a', 12));
  send(last(), 'MODIFIED', widget('a', 11));
  send(last(), 'MODIFIED', widget('a', 12));
  send(last(), 'ADDED', widget('b', 13));
  await until(() => informer.get('b') !== undefined);
  expect(told).toEqual(['added a@5', 'updated a@12', 'added b@13']);
});

test('synced rejects if the informer stops before its first list', async () => {
  lists = [() => {}];
  informer.start();
  await until(() => listed() === 1);
  await informer.stop();
  await expect(informer.synced).rejects.toThrow(/stopped/);
  expect(clock.sleeping).toEqual([]);
});
