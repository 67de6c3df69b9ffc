import { afterEach, describe, expect, test } from '@jest/globals';
import { createClient } from '../../src/kube/client.ts';
import { checkWrites, limitRate, limitRequests } from '../../src/kube/flow-control.ts';
import { createTransport, type Request, type Transport } from '../../src/kube/transport.ts';
import { type FakeApi, fakeApi, json, status, WIDGETS, widget } from '../support/fake-api.ts';
import { FakeClock, until } from '../support/fake-clock.ts';

describe('checkWrites', () => {
  let api: FakeApi;
  afterEach(() => api.close());
  const refusal = new Error('no right');
  const clientOf = (check: () => void, authenticate = async () => ({ headers: {}, tls: {} })) =>
    createClient(
      checkWrites(
        createTransport({
          server: api.url,
          authenticate,
          userAgent: 'test',
          requestTimeoutMs: 5000,
        }),
        check,
      ),
    );

  test('sends allowed writes unchanged, and checks no reads', async () => {
    api = await fakeApi((_, response) => json(response, widget('a', 1)));
    let checks = 0;
    const client = clientOf(() => {
      checks += 1;
    });
    await client.get(WIDGETS, 'a');
    expect(checks).toBe(0);
    await client.patch(WIDGETS, 'a', { metadata: { labels: { ä: 'ö' } } });
    await client.create(WIDGETS, widget('b', 1));
    await client.delete(WIDGETS, 'a');
    expect(checks).toBeGreaterThanOrEqual(3);
    expect(api.seen.map(({ method, body }) => [method, body && JSON.parse(body)])).toEqual([
      ['GET', ''],
      ['PATCH', { metadata: { labels: { ä: 'ö' } } }],
      ['POST', widget('b', 1)],
      ['DELETE', expect.objectContaining({ kind: 'DeleteOptions' })],
    ]);
  });

  test('refuses a write if the right is lost while it waits for credentials', async () => {
    api = await fakeApi((_, response) => json(response, widget('a', 1)));
    let held = true;
    const lose = async () => {
      held = false;
      return { headers: {}, tls: {} };
    };
    const check = () => {
      if (!held) throw refusal;
    };
    for (const write of ['create', 'patch', 'delete'] as const) {
      held = true;
      const client = clientOf(check, lose);
      const sent =
        write === 'create'
          ? client.create(WIDGETS, widget('a', 1))
          : write === 'patch'
            ? client.patch(WIDGETS, 'a', {})
            : client.delete(WIDGETS, 'a');
      await expect(sent).rejects.toThrow('no right');
    }
    expect(api.seen).toEqual([]);
  });

  test('does not retry a write once the right is lost', async () => {
    let held = true;
    api = await fakeApi((_, response) => {
      held = false;
      response.setHeader('retry-after', '0');
      json(response, status(429, 'TooManyRequests'), 429);
    });
    const client = clientOf(() => {
      if (!held) throw refusal;
    });
    await expect(client.patch(WIDGETS, 'a', {})).rejects.toThrow('no right');
    expect(api.seen).toHaveLength(1);
  });
});

describe('limitRate', () => {
  const sent: { path: string; at: number }[] = [];
  const clock = new FakeClock();
  const start = clock.now();
  const transport: Transport = {
    server: '',
    serverTime: () => undefined,
    async send({ path }) {
      sent.push({ path, at: clock.now() - start });
    },
    async *stream({ path }) {
      sent.push({ path, at: clock.now() - start });
      yield Buffer.from('');
    },
  };

  test('sends a burst, then the rest in order at the rate, and no aborted request', async () => {
    const limited = limitRate(transport, { qps: 2, burst: 3 }, clock);
    const request = (path: string, signal?: AbortSignal): Request => ({
      method: 'GET',
      path,
      signal,
    });
    const giveUp = new AbortController();
    const all = ['1', '2', '3', '4', '5'].map((path) => limited.send(request(path)));
    const given = limited.send(request('6', giveUp.signal));
    const watching = limited.stream(request('7')).next();
    await clock.advance(0);
    giveUp.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    await clock.advance(10_000);
    await Promise.all([...all, watching]);
    expect(sent).toEqual([
      { path: '1', at: 0 },
      { path: '2', at: 0 },
      { path: '3', at: 0 },
      { path: '4', at: 500 },
      { path: '5', at: 1000 },
      { path: '7', at: 2000 },
    ]);
    // After a pause, one burst is available again, and no more.
    sent.length = 0;
    await clock.advance(60_000);
    const more = ['a', 'b', 'c', 'd'].map((path) => limited.send(request(path)));
    await clock.advance(500);
    await Promise.all(more);
    expect(sent.map(({ at }) => at - (sent[0]?.at ?? 0))).toEqual([0, 0, 0, 500]);
  });
});

describe('limitRequests', () => {
  test('sends the next request when one ends or fails, and does not count watches', async () => {
    const ends = new Map<string, (error?: Error) => void>();
    const transport: Transport = {
      server: '',
      serverTime: () => undefined,
      send: ({ path }) =>
        new Promise<void>((resolve, reject) => {
          ends.set(path, (error) => (error === undefined ? resolve() : reject(error)));
        }),
      async *stream({ path }) {
        yield Buffer.from(path);
      },
    };
    const limited = limitRequests(transport, 2);
    const send = (path: string, signal?: AbortSignal) =>
      limited.send({ method: 'GET', path, signal });
    const sent = () => [...ends.keys()].join();
    const giveUp = new AbortController();
    const first = send('1');
    const second = send('2');
    const given = send('3', giveUp.signal);
    const more = [send('4'), send('5')];
    expect(sent()).toBe('1,2');
    expect((await limited.stream({ method: 'GET', path: 'w' }).next()).value?.toString()).toBe('w');
    giveUp.abort(new Error('given up'));
    ends.get('1')?.(new Error('broken'));
    await expect(first).rejects.toThrow('broken');
    await expect(given).rejects.toThrow('given up');
    await until(() => ends.has('4'));
    expect(sent()).toBe('1,2,4');
    ends.get('2')?.();
    await second;
    await until(() => ends.has('5'));
    for (const path of ['4', '5']) ends.get(path)?.();
    await Promise.all(more);
    // All slots are free again.
    const last = [send('6'), send('7'), send('8')];
    expect(sent()).toBe('1,2,4,5,6,7');
    for (const path of ['6', '7']) ends.get(path)?.();
    await until(() => ends.has('8'));
    ends.get('8')?.();
    await Promise.all(last);
  });
});
