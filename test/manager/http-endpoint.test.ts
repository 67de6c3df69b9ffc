import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { request } from 'undici';
import { parseHttpAddress } from '../../src/manager/http-address.ts';
import {
  type HttpEndpoint,
  type HttpEndpointOptions,
  startHttpEndpoint,
} from '../../src/manager/http-endpoint.ts';
import { readiness } from '../../src/manager/readiness.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';
import { until } from '../support/until.ts';

const running: HttpEndpoint[] = [];
afterEach(() => {
  for (const endpoint of running.splice(0)) endpoint.close();
});

async function serve(more: Partial<HttpEndpointOptions> = {}, address = '127.0.0.1:0') {
  const logger = memoryLogger();
  const clock = new FakeClock();
  const endpoint = await startHttpEndpoint({
    address: parseHttpAddress(address),
    metricsPath: '/metrics',
    ready: () => ({ ready: true, text: 'fine\n' }),
    clock,
    logger,
    ...more,
  });
  running.push(endpoint);
  const ask = async (path: string, method: 'GET' | 'HEAD' | 'POST' = 'GET') => {
    const { statusCode, headers, body } = await request(
      `http://127.0.0.1:${endpoint.port}${path}`,
      {
        method,
      },
    );
    return { code: statusCode, type: headers['content-type'], text: await body.text() };
  };
  return { endpoint, ask, logger, clock };
}

test('serves health, readiness, and metrics under their path', async () => {
  let ready = false;
  const { ask } = await serve({
    ready: () => ({ ready, text: `ready: ${ready}\n` }),
    metricsPath: '/prometheus',
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }),
  });
  expect(await ask('/healthz')).toMatchObject({ code: 200, text: 'ok\n' });
  expect(await ask('/readyz?verbose')).toMatchObject({ code: 503, text: 'ready: false\n' });
  ready = true;
  expect(await ask('/readyz')).toMatchObject({ code: 200, text: 'ready: true\n' });
  expect(await ask('/readyz', 'HEAD')).toMatchObject({ code: 200, text: '' });
  expect(await ask('/prometheus')).toEqual({
    code: 200,
    type: 'text/plain; version=0.0.4',
    text: 'up 1\n',
  });
  expect(await ask('/metrics')).toMatchObject({
    code: 404,
    text: 'Known paths: /healthz, /readyz, /prometheus\n',
  });
  expect(await ask('/healthz', 'POST')).toMatchObject({ code: 405 });
});

test('responds with 404 without metrics, and with 500 if reading them fails', async () => {
  expect(await (await serve()).ask('/metrics')).toMatchObject({ code: 404 });
  const { ask, logger } = await serve({ metrics: () => Promise.reject(new Error('secret')) });
  expect(await ask('/metrics')).toMatchObject({ code: 500, text: 'internal error\n' });
  expect(logger.lines.at(-1)).toMatchObject({ level: 'error', fields: { path: '/metrics' } });
  expect(await ask('/healthz')).toMatchObject({ code: 200 });
});

test('renders the metrics at most once a second for all clients', async () => {
  let reads = 0;
  let end = () => {};
  const { ask, clock } = await serve({
    metrics: async () => {
      const body = `read ${++reads}\n`;
      await new Promise<void>((resolve) => (end = resolve));
      return { contentType: 'text/plain', body };
    },
  });
  const both = [ask('/metrics'), ask('/metrics')];
  await until('the metrics are read', async () => (reads > 0 ? true : undefined));
  // Regardless of the duration.
  await clock.advance(5000);
  both.push(ask('/metrics'));
  // Once this responds, the third request has arrived: the requests of a client are processed in
  // order.
  await ask('/healthz');
  end();
  expect((await Promise.all(both)).map(({ text }) => text)).toEqual([
    'read 1\n',
    'read 1\n',
    'read 1\n',
  ]);
  const next = ask('/metrics');
  await until('they are read again', async () => (reads > 1 ? true : undefined));
  end();
  expect(await next).toMatchObject({ text: 'read 2\n' });
  await clock.advance(999);
  expect(await ask('/metrics')).toMatchObject({ text: 'read 2\n' });
});

test('closes a connection that sends requests without waiting for responses', async () => {
  let reads = 0;
  const { endpoint, ask } = await serve({
    metrics: async () => ({
      contentType: 'text/plain',
      body: `${'x'.repeat(1 << 20)} ${++reads}\n`,
    }),
  });
  const socket = connect(endpoint.port, '127.0.0.1');
  // The client reads no response, and may get a connection reset.
  const closed = new Promise((resolve) => socket.on('error', resolve).on('close', resolve));
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(40_000));
  await closed;
  expect(reads).toBe(1);
  expect(await ask('/healthz')).toMatchObject({ code: 200 });
});

/** Opens connections without requests, from that address of this machine. */
const hold = (port: number, count: number, localAddress: string) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ host: '127.0.0.1', port, localAddress });
      socket.on('error', () => {});
      await once(socket, 'connect');
      return socket;
    }),
  );

test('accepts a 17th connection of an address, and closes its oldest one', async () => {
  const { endpoint, ask } = await serve();
  const [oldest, ...others] = await hold(endpoint.port, 16, '127.0.0.1');
  const closed = oldest && once(oldest, 'close');
  expect(await ask('/healthz')).toMatchObject({ code: 200 });
  await closed;
  for (const socket of others) socket.end('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await Promise.all(others.map((socket) => once(socket.resume(), 'close')));
});

test('responds while 18 other addresses hold all connections', async () => {
  const { endpoint, ask } = await serve();
  const held = [];
  for (let address = 2; address < 20; address++)
    held.push(...(await hold(endpoint.port, 16, `127.0.1.${address}`)));
  for (let time = 0; time < 5; time++) expect(await ask('/healthz')).toMatchObject({ code: 200 });
  expect(held.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(256);
  for (const socket of held) socket.destroy();
});

test.each([
  ['a port in use', (port: number) => `127.0.0.1:${port}`, 'the port is in use'],
  ['an address of another machine', () => '192.0.2.1:0', 'this machine has no such address'],
  ['an unknown host', () => 'no-such-host.invalid:0', 'the host is unknown'],
])('reports %s, with a hint', async (_, address, why) => {
  const { endpoint } = await serve();
  const text = address(endpoint.port);
  await expect(serve({}, text)).rejects.toMatchObject({
    code: 'failed',
    message: `--http-endpoint ${text}: ${why}`,
    hint: expect.stringContaining('another address'),
  });
});

test('readiness requires a recent response from every source', () => {
  const now = 1_000_000_000;
  const source = (name: string, heard: number) => ({ name, lastHeard: () => heard });
  const minutes = (count: number) => now - count * 60_000;
  expect(readiness([source('volumes', minutes(3)), source('lease', now)], now)).toEqual({
    ready: true,
    text: '[+]volumes ok\n[+]lease ok\nreadyz check passed\n',
  });
  expect(
    readiness([source('volumes', 0), source('nodes', minutes(4)), source('lease', now)], now),
  ).toEqual({
    ready: false,
    text: '[-]volumes failed: no response yet\n[-]nodes failed: no response for 240 s\n[+]lease ok\nreadyz check failed\n',
  });
});
