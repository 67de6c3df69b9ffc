import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '../../src/kube/wait.ts';
import { type FakeApi, fakeApi, json, status, WIDGETS, widget } from '../support/fake-api.ts';
import { FakeClock, until } from '../support/fake-clock.ts';

let api: FakeApi;
let clock: FakeClock;
let lists: ((response: ServerResponse) => void)[];
let watches: ServerResponse[];

const listOf =
  (...items: object[]) =>
  (response: ServerResponse) =>
    json(response, { metadata: { resourceVersion: '10' }, items });
const send = (type: string, object: object) =>
  watches.at(-1)?.write(`${JSON.stringify({ type, object })}\n`);
const at = (version: number) => (object: { metadata: { resourceVersion?: string } } | undefined) =>
  object?.metadata.resourceVersion === String(version);

beforeEach(async () => {
  clock = new FakeClock();
  lists = [listOf(widget('a', 5))];
  watches = [];
  api = await fakeApi(({ url }, response) => {
    if (!url.includes('watch=true'))
      return (lists.length > 1 ? lists.shift() : lists[0])?.(response);
    response.flushHeaders();
    watches.push(response);
  });
});
afterEach(() => api.close());

const options = (more: Partial<Parameters<typeof waitFor>[3]>) => ({
  ...{ clock, timeoutMs: 600_000, until: at(12) },
  ...more,
});

test('returns without a watch if the condition already holds', async () => {
  expect(await waitFor(api.client, WIDGETS, 'a', options({ until: at(5) }))).toEqual(
    widget('a', 5),
  );
  expect(api.seen.map(({ url }) => url)).toEqual([
    '/apis/example.com/v1/widgets?fieldSelector=metadata.name%3Da',
  ]);
  expect(clock.sleeping).toEqual([]);
});

test('reports changes until the condition holds', async () => {
  const told: unknown[] = [];
  const onChange = (object: unknown) => told.push(object);
  const waiting = waitFor(api.client, WIDGETS, 'a', options({ onChange }));
  await until(() => watches.length === 1);
  send('BOOKMARK', { metadata: { resourceVersion: '11' } });
  send('MODIFIED', widget('a', 11));
  send('MODIFIED', widget('a', 12));
  expect(await waiting).toEqual(widget('a', 12));
  expect(told).toEqual([widget('a', 5), widget('a', 11), widget('a', 12)]);
});

test('waits for a deletion', async () => {
  const waiting = waitFor(
    api.client,
    WIDGETS,
    'a',
    options({ until: (object) => object === undefined }),
  );
  await until(() => watches.length === 1);
  send('DELETED', widget('a', 12));
  expect(await waiting).toBeUndefined();
});

test('outlives dropped watches, server errors and expired versions', async () => {
  lists.push((r) => json(r, status(500, 'InternalError'), 500));
  lists.push(
    (r) => r.destroy(),
    (r) => r.destroy(),
  );
  lists.push(listOf(widget('a', 11)), listOf(widget('a', 12)));
  const waiting = waitFor(api.client, WIDGETS, 'a', options({}));
  await until(() => watches.length === 1);
  watches[0]?.destroy();
  while (watches.length < 2) await clock.advance(1000);
  send('ERROR', status(410, 'Expired'));
  let done = false;
  const ended = waiting.finally(() => {
    done = true;
  });
  while (!done) await clock.advance(1000);
  expect(await ended).toEqual(widget('a', 12));
});

test('lists again after a minute of a half-open watch', async () => {
  lists.push(listOf(widget('a', 12)));
  const waiting = waitFor(api.client, WIDGETS, 'a', options({}));
  await until(() => watches.length === 1);
  await clock.advance(60_000);
  await until(() => clock.sleeping[0] === 1000);
  await clock.advance(1000);
  expect(await waiting).toEqual(widget('a', 12));
});

test('a timeout names the object, with the last error as its cause', async () => {
  lists = [(r) => json(r, status(500, 'InternalError', 'etcd is down'), 500)];
  const waiting = waitFor(api.client, WIDGETS, 'a', options({ timeoutMs: 5000 })).catch((e) => e);
  await until(() => clock.sleeping.includes(1000));
  await clock.advance(5000);
  expect(await waiting).toMatchObject({
    code: 'timeout',
    message: 'Widget a: timed out after 5 s',
    cause: { message: 'etcd is down' },
  });
});

test.each([401, 403, 404])('a %i ends the wait', async (code) => {
  lists = [(r) => json(r, status(code, 'x', 'no'), code)];
  await expect(waitFor(api.client, WIDGETS, 'a', options({}))).rejects.toMatchObject({
    statusCode: code,
  });
});

test('an error of `until` ends the wait and leaves no timer', async () => {
  const failed = () => {
    throw new Error('Failed');
  };
  await expect(waitFor(api.client, WIDGETS, 'a', options({ until: failed }))).rejects.toThrow(
    'Failed',
  );
  expect(clock.sleeping).toEqual([]);
});

test('ends when the caller aborts', async () => {
  const controller = new AbortController();
  const waiting = waitFor(api.client, WIDGETS, 'a', options({ signal: controller.signal }));
  await until(() => watches.length === 1);
  controller.abort(new Error('interrupted'));
  await expect(waiting).rejects.toThrow('interrupted');
});

test('a watch that fails after the deadline is reported as the timeout', async () => {
  let watched = false;
  const client: Parameters<typeof waitFor>[0] = {
    ...api.client,
    async *watch(_resource, { signal }) {
      watched = true;
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      await clock.sleep(1);
      throw new DOMException('aborted', 'AbortError');
    },
  };
  const waiting = waitFor(client, WIDGETS, 'a', options({ timeoutMs: 60_001 }));
  const outcome = expect(waiting).rejects.toMatchObject({ code: 'timeout' });
  await until(() => watched);
  await clock.advance(60_001);
  await outcome;
});
