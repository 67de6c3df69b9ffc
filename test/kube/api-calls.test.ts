import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ApiCall } from '../../src/kube/transport.ts';
import { type FakeApi, fakeApi, json, status, WIDGETS, widget } from '../support/fake-api.ts';
import { until } from '../support/fake-clock.ts';

let api: FakeApi;
let calls: ApiCall[];
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  calls = [];
  answer = (response) => json(response, widget('a', 1));
  api = await fakeApi((_, response) => answer(response), { onCall: (call) => calls.push(call) });
});
afterEach(() => api.close());

const told = () => calls.map(({ verb, resource, code }) => `${verb} ${resource} ${code}`);

test('reports each request with verb, resource and code', async () => {
  await api.client.get(WIDGETS, 'a');
  await api.client.list(WIDGETS);
  await api.client.create(WIDGETS, widget('a', 1));
  await api.client.patch(WIDGETS, 'a', {});
  await api.client.patch(WIDGETS, 'a', {}, { subresource: 'status' });
  await api.client.delete(WIDGETS, 'a');
  answer = (response) => response.end();
  for await (const _ of api.client.watch(WIDGETS, { resourceVersion: '1' }))
    throw new Error('an event');
  answer = (response) => json(response, status(404, 'NotFound'), 404);
  await expect(api.client.get(WIDGETS, 'a')).rejects.toThrow();
  expect(told()).toEqual([
    'get widgets 200',
    'list widgets 200',
    'create widgets 200',
    'patch widgets 200',
    'patch widgets/status 200',
    'delete widgets 200',
    'watch widgets 200',
    'get widgets 404',
  ]);
  for (const { ms } of calls) expect(ms).toBeGreaterThan(0);
});

test('reports each retry, and a request that gets no response', async () => {
  const codes = [429, 200];
  answer = (response) => {
    response.setHeader('retry-after', '0');
    json(response, status(429, 'TooManyRequests'), codes.shift());
  };
  await api.client.create(WIDGETS, widget('a', 1));
  answer = (response) => response.destroy();
  await expect(api.client.get(WIDGETS, 'a')).rejects.toThrow();
  expect(told()).toEqual([
    'create widgets 429',
    'create widgets 200',
    'get widgets undefined',
    'get widgets undefined',
  ]);
});

test('does not report a request that its caller aborted', async () => {
  answer = () => {};
  const giveUp = new AbortController();
  const sent = api.client.get(WIDGETS, 'a', { signal: giveUp.signal });
  await until(() => api.seen.length === 1);
  giveUp.abort(new Error('given up'));
  await expect(sent).rejects.toThrow('given up');
  expect(told()).toEqual([]);
});

test.each([
  ['Mon, 01 Jan 2001 00:00:00 GMT', Date.parse('2001-01-01T00:00:00Z')],
  ['yesterday', undefined],
])('the time of the API server is in its last answer: %s', async (date, expected) => {
  expect(api.client.serverTime()).toBeUndefined();
  answer = (response) => {
    response.setHeader('date', date);
    json(response, status(404, 'NotFound'), 404);
  };
  const before = performance.now();
  await api.client.get(WIDGETS, 'a').catch(() => {});
  const time = api.client.serverTime();
  if (expected === undefined || time === undefined) return expect(time).toBe(expected);
  expect(time).toBeGreaterThanOrEqual(expected);
  expect(time).toBeLessThanOrEqual(expected + performance.now() - before);
  // Time passes between two answers.
  await new Promise((resolve) => setImmediate(resolve));
  expect(api.client.serverTime()).toBeGreaterThan(time);
});
