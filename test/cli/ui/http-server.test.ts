import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StowageError } from '../../../src/api/errors.ts';
import type { Actions } from '../../../src/cli/ui/actions/actions.ts';
import { startUiServer, type UiServer } from '../../../src/cli/ui/http-server.ts';
import { createHub } from '../../../src/cli/ui/hub.ts';
import { createSession } from '../../../src/cli/ui/session.ts';
import type { FeedMessage } from '../../../src/ui/protocol.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { volumeNamed } from '../../support/volumes.ts';

const session = createSession(systemClock);
/** Calls of actions, with their bodies. */
const calls: unknown[] = [];
const keys: string[] = [];
/** Signals of readers of lines. */
const readers: AbortSignal[] = [];
const actions: Pick<Actions, 'answer'> = {
  async answer(call, body, key) {
    calls.push([call, body]);
    keys.push(key);
    if (call === 'rights') return { body: { rights: {} } };
    if (call === 'plan')
      return { status: 400, refusal: { error: 'no', code: 'wrong-field', field: 'name' } };
    return {
      async *lines(signal) {
        readers.push(signal);
        yield '1\n';
        if (call === 'choices') await new Promise(() => {});
        yield '2\n';
      },
    };
  },
};
const hub = createHub({ server: 'https://cluster.example', version: '1' }, systemClock);
let server: UiServer;

beforeAll(async () => {
  server = await startUiServer({
    port: 0,
    session,
    hub,
    clock: systemClock,
    assets: new Map([['index.html', Buffer.from('<!doctype html>')]]),
    link: () => ({ url: `http://127.0.0.1/#token=${session.issue().token}`, seconds: 60 }),
    async volume(name) {
      if (name === 'none') throw new StowageError('not-found', 'volumes "none" not found');
      if (name === 'secret') throw new StowageError('forbidden', 'ann may not get volumes');
      if (name === 'down') throw new Error('the server https://a:hunter2@b is gone\u001b[2J');
      return { name };
    },
    blocked: async () => ({ groups: [] }),
    async read(route) {
      if (route.name === 'none') throw new StowageError('not-found', 'claim "none" not found');
      return route;
    },
    actions,
  });
});
afterAll(() => server.close());

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends a request over HTTP as it is: `fetch` sets headers of its own. */
function send(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port: server.port, method, path, headers, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  send('POST', path, { ...JSON_TYPE, 'content-length': String(body.length), ...headers }, body);

/** Returns the header with a valid key. */
const withKey = () => ({ 'x-stowage-key': session.exchange(session.issue().token) ?? '' });

describe('a session', () => {
  test('begins once for a token', async () => {
    const body = JSON.stringify({ token: session.issue().token });
    const first = await post('/api/session', body);
    expect(first.status).toBe(200);
    const { key } = JSON.parse(first.body);
    expect(session.admits(key)).toBe(true);
    expect(first.headers['set-cookie']).toBeUndefined();
    const second = await post('/api/session', body);
    expect(second.status).toBe(401);
    expect(JSON.parse(second.body)).toEqual({ code: 'no-token', error: expect.any(String) });
  });

  test.each(['', '{}', 'null', '[]', '"x"', '{"token":1}', '{"token":{}}', '{"token":"x"}', '{'])(
    'does not begin for the body %j',
    async (body) => {
      expect(await post('/api/session', body)).toMatchObject({ status: 401 });
    },
  );

  test('gives other links, each of which voids the one before', async () => {
    const key = withKey();
    const first = JSON.parse((await post('/api/token', '{}', key)).body);
    const second = JSON.parse((await post('/api/token', '{}', key)).body);
    const exchanged = async ({ url }: { url: string }) => {
      const token = url.split('=')[1];
      return (await post('/api/session', JSON.stringify({ token }))).status;
    };
    expect(await exchanged(first)).toBe(401);
    expect(await exchanged(second)).toBe(200);
  });
});

describe('an action', () => {
  const act = (path: string, headers: Record<string, string> = {}) =>
    post(path, '{"a":1}', { origin: `http://127.0.0.1:${server.port}`, ...withKey(), ...headers });

  test('is answered as JSON, with a refusal, or with lines', async () => {
    expect(await act('/api/rights')).toMatchObject({ status: 200, body: '{"rights":{}}' });
    expect(await act('/api/plan')).toMatchObject({
      status: 400,
      body: '{"error":"no","code":"wrong-field","field":"name"}',
    });
    const run = await act('/api/run');
    expect(run).toMatchObject({ status: 200, body: '1\n2\n' });
    expect(run.headers['content-type']).toBe('application/x-ndjson');
    expect(run.headers['content-security-policy']).toBeDefined();
    expect(calls).toEqual(['rights', 'plan', 'run'].map((call) => [call, { a: 1 }]));
    expect(keys.map(session.admits)).toEqual([true, true, true]);
  });

  test.each<[string, Record<string, string>]>([
    ['no key', { 'x-stowage-key': '' }],
    ['another key', { 'x-stowage-key': 'x' }],
    ['another origin', { origin: 'http://127.0.0.1:1' }],
    ['another content', { 'content-type': 'text/plain' }],
  ])('does not run with %s', async (_what, headers) => {
    const before = calls.length;
    for (const path of ['/api/plan', '/api/run', '/api/choices', '/api/rights'])
      expect((await act(path, headers)).status).toBeGreaterThanOrEqual(401);
    expect(await post('/api/run', '{}', withKey())).toMatchObject({ status: 403 });
    expect(calls).toHaveLength(before);
  });

  test('learns that its reader is gone', async () => {
    const headers = { ...JSON_TYPE, ...withKey(), origin: `http://127.0.0.1:${server.port}` };
    const before = readers.length;
    const request = httpRequest(
      {
        ...{ host: '127.0.0.1', port: server.port, method: 'POST', path: '/api/choices' },
        headers: { ...headers, 'content-length': '2' },
      },
      (response) => response.once('data', () => request.destroy()),
    );
    request.on('error', () => {});
    request.end('{}');
    while (readers[before]?.aborted !== true) await new Promise((done) => setImmediate(done));
  });
});

describe('every response', () => {
  test.each<[string, string, Record<string, string>, number]>([
    ['GET', '/', {}, 200],
    ['GET', '/../main.mjs', {}, 404],
    ['GET', '/', { host: 'evil.example' }, 403],
    ['GET', '/api/feed', {}, 401],
    ['PUT', '/', {}, 405],
  ])('%s %s with %j has the security headers', async (method, path, headers, status) => {
    const answer = await send(method, path, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; .*frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'/,
      ),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(answer.headers['content-security-policy']).not.toMatch(/unsafe|\*|http|data:/);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    if (status === 405) expect(answer.headers.allow).toBe('GET');
    if (status >= 400) {
      expect(JSON.parse(answer.body)).toEqual({
        error: expect.any(String),
        code: expect.any(String),
      });
    }
  });
});

test.each<[string, number, object]>([
  ['data1', 200, { name: 'data1' }],
  ['none', 404, { code: 'not-found', error: 'volumes "none" not found' }],
  ['secret', 403, { code: 'refused', error: 'ann may not get volumes' }],
  ['down', 502, { code: 'failed', error: 'the server https://…@b is gone\ufffd[2J' }],
])('GET /api/volumes/%s answers with %d', async (name, status, body) => {
  const answer = await send('GET', `/api/volumes/${name}`, withKey());
  expect({ status: answer.status, body: JSON.parse(answer.body) }).toEqual({ status, body });
});

test.each<[string, number, object]>([
  ['/api/claims/db/data-0', 200, { do: 'read', what: 'claim', namespace: 'db', name: 'data-0' }],
  ['/api/claims/db/none', 404, { code: 'not-found', error: 'claim "none" not found' }],
])('GET %s answers with %d', async (path, status, body) => {
  const answer = await send('GET', path, withKey());
  expect({ status: answer.status, body: JSON.parse(answer.body) }).toEqual({ status, body });
});

test.each([
  ['too long a header', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['no HTTP', 'hello <script>\r\n\r\n'],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
])('a request with %s is ended without an answer', async (_what, text) => {
  const answer = await new Promise<string>((resolve) => {
    let all = '';
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (data) => {
      all += data;
    });
    socket.on('close', () => resolve(all));
    socket.on('error', () => {});
  });
  // A browser would take an answer for that to its next request on the connection.
  expect(answer).toBe('');
});

/** Opens a feed, and returns a function that waits for a message. */
async function feed(headers: Record<string, string>) {
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: server.port,
      path: '/api/feed',
      headers,
      agent: false,
    };
    httpRequest(options, resolve).on('error', reject).end();
  });
  const seen: FeedMessage[] = [];
  let rest = '';
  let wake = () => {};
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    seen.push(...lines.map((line) => JSON.parse(line)));
    wake();
  });
  const ended = new Promise<void>((resolve) => response.once('close', resolve));
  response.on('error', () => {});
  return {
    response,
    ended,
    seen,
    async until(matches: (message: FeedMessage) => boolean): Promise<FeedMessage> {
      for (;;) {
        const found = seen.find(matches);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

test('a feed has the state, then each change', async () => {
  hub.take('volumes', volumeNamed('before'));
  const { until, response, seen } = await feed(withKey());
  await until((message) => message.type === 'rows');
  expect(response.headers['content-type']).toBe('application/x-ndjson');
  expect(seen[0]).toEqual({ type: 'start', server: 'https://cluster.example', version: '1' });
  hub.take('volumes', volumeNamed('after'));
  hub.setConnected(false, 'https://a:hunter2@b: gone');
  await until(
    (message) => message.type === 'rows' && message.rows.some(({ name }) => name === 'after'),
  );
  expect(
    await until((message) => message.type === 'connection' && 'error' in message),
  ).toMatchObject({ connected: false, error: 'https://…@b: gone' });
  hub.take('volumes', volumeNamed('before'), true);
  expect(await until((message) => message.type === 'gone')).toEqual({
    type: 'gone',
    kind: 'volumes',
    names: ['before'],
  });
  response.destroy();
});

test('the number of feeds is bounded, and an ended one makes room', async () => {
  const key = withKey();
  const feeds = await Promise.all(Array.from({ length: 16 }, () => feed(key)));
  expect(await send('GET', '/api/feed', key)).toMatchObject({ status: 429 });
  feeds[0]?.response.destroy();
  for (;;) {
    const again = await feed(key);
    again.response.destroy();
    if (again.response.statusCode === 200) break;
  }
  for (const { response } of feeds) response.destroy();
});

test('the end of the server ends its feeds at once', async () => {
  const other = await startUiServer({
    port: 0,
    session,
    hub,
    clock: systemClock,
    assets: new Map(),
    link: () => ({ url: '', seconds: 0 }),
    volume: async () => ({}),
    blocked: async () => ({}),
    read: async () => ({}),
    actions,
  });
  const open = await new Promise<import('node:http').IncomingMessage>((resolve) => {
    httpRequest(
      {
        port: other.port,
        path: '/api/feed',
        headers: { ...withKey(), host: `127.0.0.1:${other.port}` },
      },
      resolve,
    ).end();
  });
  const ended = new Promise<void>((resolve) => open.once('close', resolve));
  open.on('error', () => {}).resume();
  await other.close();
  await ended;
});

test('a used port is an error with a hint', async () => {
  const again = startUiServer({
    port: server.port,
    session,
    hub,
    clock: systemClock,
    assets: new Map(),
    link: () => ({ url: '', seconds: 0 }),
    volume: async () => ({}),
    blocked: async () => ({}),
    read: async () => ({}),
    actions,
  });
  await expect(again).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining('EADDRINUSE'),
    hint: expect.stringContaining('--port'),
  });
});
