import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { connect } from '../../src/kube/connect.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { proxyFor } from '../../src/kube/proxy.ts';
import { createTransport } from '../../src/kube/transport.ts';
import { type FakeApi, fakeApi, json, WIDGETS, widget } from '../support/fake-api.ts';
import { startHttpProxy, startSocksProxy, type TestProxy } from '../support/proxies.ts';
import { CHAINED, INTERMEDIATE } from '../support/tls.ts';

const HTTPS = 'https://api.example.com:6443';

describe('the proxy of a server', () => {
  const environment = { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'http://q:2' };

  test.each<[string, string, string | undefined, NodeJS.ProcessEnv, string | undefined]>([
    ['none', HTTPS, undefined, {}, undefined],
    ['of the cluster', HTTPS, 'socks5://s:3', environment, 'socks5://s:3'],
    ['of the cluster, whatever NO_PROXY', HTTPS, 'https://s', { NO_PROXY: '*' }, 'https://s/'],
    ['of the cluster, on loopback', 'https://127.0.0.1', 'http://s', {}, 'http://s/'],
    ['of https', HTTPS, undefined, environment, 'http://p:1/'],
    ['of http', 'http://api.example.com', undefined, environment, 'http://q:2/'],
    ['not that of http for https', HTTPS, undefined, { HTTP_PROXY: 'http://q' }, undefined],
    ['in lower case', HTTPS, undefined, { https_proxy: 'http://p' }, 'http://p/'],
    [
      'upper before lower case',
      HTTPS,
      undefined,
      { ...environment, https_proxy: 'http://x' },
      'http://p:1/',
    ],
    [
      'lower case if upper is empty',
      HTTPS,
      undefined,
      { HTTPS_PROXY: '', https_proxy: 'http://p' },
      'http://p/',
    ],
    [
      'without a scheme',
      HTTPS,
      undefined,
      { HTTPS_PROXY: 'p.example:3128' },
      'http://p.example:3128/',
    ],
    [
      'an address without a scheme',
      HTTPS,
      undefined,
      { HTTPS_PROXY: '10.0.0.1:3128' },
      'http://10.0.0.1:3128/',
    ],
    ['socks5h', HTTPS, undefined, { HTTPS_PROXY: 'socks5h://p' }, 'socks5h://p'],
    [
      'none beside an unusable variable, for a server of NO_PROXY',
      HTTPS,
      undefined,
      { HTTPS_PROXY: 'http://[', NO_PROXY: 'example.com' },
      undefined,
    ],
    [
      'none for loopback in IPv6 form',
      'https://[::ffff:127.0.0.1]',
      undefined,
      environment,
      undefined,
    ],
    ['none for localhost', 'https://localhost:6443', undefined, environment, undefined],
    ['none for loopback', 'https://127.1.2.3', undefined, environment, undefined],
    ['none for loopback of IPv6', 'https://[::1]:6443', undefined, environment, undefined],
  ])('is found: %s', (_, server, proxyUrl, variables, found) => {
    expect(proxyFor(server, proxyUrl, variables)?.href).toBe(found);
  });

  // The entries are those of the documentation and tests of golang.org/x/net/http/httpproxy.
  test.each<[string, string, boolean]>([
    ['', 'https://10.1.2.3', true],
    ['*', HTTPS, false],
    ['a.b,*', HTTPS, false],
    ['10.0.0.0/8', 'https://10.1.2.3:6443', false],
    [' 192.168.0.0/16 , 10.0.0.0/8 ', 'https://10.1.2.3', false],
    ['10.1.0.0/24', 'https://10.1.2.3', true],
    ['10.0.0.0/33', 'https://10.1.2.3', true],
    ['10.0.0.0/', 'https://10.1.2.3', true],
    ['fd00::/8', 'https://[fd12::1]:6443', false],
    ['fd00::/8', 'https://10.1.2.3', true],
    ['10.1.2.3', 'https://10.1.2.3:6443', false],
    ['10.1.2.3:6443', 'https://10.1.2.3:6443', false],
    ['10.1.2.3:443', 'https://10.1.2.3', false],
    ['10.1.2.3:443', 'https://10.1.2.3:6443', true],
    ['[fd12::1]:6443', 'https://[fd12::1]:6443', false],
    ['fd12:0::1', 'https://[fd12::1]:6443', false],
    ['example.com', HTTPS, false],
    ['EXAMPLE.com', 'https://API.example.com', false],
    ['example.com', 'https://example.com', false],
    ['example.com', 'https://badexample.com', true],
    ['.example.com', HTTPS, false],
    ['.example.com', 'https://example.com', true],
    ['*.example.com', HTTPS, false],
    ['*.example.com', 'https://example.com', true],
    ['example.com:6443', HTTPS, false],
    ['example.com:443', HTTPS, true],
    [':6443', HTTPS, true],
    ['bücher.example', 'https://api.bücher.example', false],
    ['.', HTTPS, true],
    ['::/0', 'https://10.1.2.3', true],
    ['::/0', 'https://[fd12::1]', false],
    ['0.0.0.0/0', 'https://[fd12::1]', true],
    ['0.0.0.0/0', 'https://[::ffff:10.1.2.3]', false],
    ['::ffff:10.0.0.0/104', 'https://10.1.2.3', false],
    ['::ffff:10.0.0.0/104', 'https://11.1.2.3', true],
    ['::ffff:10.1.2.3', 'https://10.1.2.3', false],
    ['[fd12::1]', 'https://[fd12::1]:6443', true],
    ['[fd12::1]:', 'https://[fd12::1]:6443', false],
    ['10.0.0.1/33', 'https://10.0.0.1', true],
    ['10.0.0.001', 'https://10.0.0.1', true],
    ['.1', 'https://10.0.0.1', true],
    ['1', 'https://10.0.0.1', true],
    ['example.com:6443:1', HTTPS, true],
    ['*example.com', HTTPS, true],
    ['api.example.com:', HTTPS, false],
  ])('NO_PROXY=%j: %s uses it: %s', (noProxy, server, isUsed) => {
    const variables = { HTTPS_PROXY: 'http://p', NO_PROXY: noProxy };
    expect(proxyFor(server, undefined, variables) !== undefined).toBe(isUsed);
    const lower = { https_proxy: 'http://p', no_proxy: noProxy };
    expect(proxyFor(server, undefined, lower) !== undefined).toBe(isUsed);
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['another scheme', 'ftp://user:SECRET@p', undefined],
    ['socks4', 'socks4://user:SECRET@p', undefined],
    ['a scheme of the environment alone', 'socks5h://user:SECRET@p', undefined],
    ['no scheme', 'user:SECRET@p:3128', undefined],
    ['no host', 'socks5://', undefined],
    ['no URL', 'SECRET', undefined],
    ['another scheme in the environment', undefined, 'ftp://user:SECRET@p'],
    ['no host in the environment', undefined, 'socks5://'],
    ['no host of http, but a path', undefined, 'http:///SECRET'],
    ['no URL in the environment', undefined, 'http://user:SECRET@['],
    ['an invalid escape', 'http://user:SECRET%zz@p', undefined],
    ['an invalid escape in the environment', undefined, 'http://user:SECRET%zz@p'],
    ['a password too long for socks5', `socks5://user:SECRET${'x'.repeat(250)}@p`, undefined],
    ['a user too long for socks5', undefined, `socks5h://${'%C3%A9'.repeat(128)}:SECRET@p`],
  ])('is refused without its password: %s', (_, proxyUrl, variable) => {
    const variables = variable === undefined ? {} : { HTTPS_PROXY: variable };
    let error: unknown;
    try {
      proxyFor(HTTPS, proxyUrl, variables);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({
      code: 'failed',
      message: expect.stringContaining('is not a proxy URL'),
      hint: expect.stringContaining('socks5 proxy'),
    });
    expect(inspect(error)).not.toContain('SECRET');
  });
});

describe('a connection', () => {
  let folder: string;
  let server: Server;
  let plain: FakeApi;
  let proxies: TestProxy[];
  const VARIABLES = [
    'HTTPS_PROXY',
    'https_proxy',
    'HTTP_PROXY',
    'http_proxy',
    'NO_PROXY',
    'no_proxy',
  ];
  const environment = VARIABLES.map((name) => [name, process.env[name]] as const);

  beforeAll(async () => {
    server = createServer(
      { key: CHAINED.key, cert: CHAINED.cert + INTERMEDIATE },
      (request, response) => {
        if (!request.url?.includes('watch=')) return json(response, widget('a', 1));
        response.write(`${JSON.stringify({ type: 'ADDED', object: widget('a', 2) })}\n`);
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    plain = await fakeApi(({ url }, response) => {
      if (!url.includes('watch=')) return json(response, widget('a', 1));
      response.write(`${JSON.stringify({ type: 'ADDED', object: widget('a', 2) })}\n`);
    });
  });
  afterAll(async () => {
    await plain.close();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stowage-proxy-'));
    proxies = [];
    for (const name of VARIABLES) delete process.env[name];
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    for (const [name, value] of environment) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  const started = async (starting: Promise<TestProxy>): Promise<TestProxy> => {
    const proxy = await starting;
    proxies.push(proxy);
    return proxy;
  };
  const port = () => (server.address() as AddressInfo).port;
  /** Name that only the proxy resolves. */
  const named = () => `https://api.test:${port()}`;

  /** Writes a kubeconfig, and connects. */
  function connectTo(url: string, cluster: object = {}, requestTimeoutMs = 10_000) {
    const path = join(folder, 'config');
    const ca = { 'certificate-authority-data': Buffer.from(INTERMEDIATE).toString('base64') };
    const config = {
      clusters: [{ name: 'c', cluster: { server: url, ...ca, ...cluster } }],
      users: [{ name: 'c', user: { token: 't' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
      'current-context': 'c',
    };
    writeFileSync(path, JSON.stringify(config));
    return connect({ kubeconfig: path, requestTimeoutMs });
  }

  const KINDS = [
    ['http', startHttpProxy],
    ['socks5', startSocksProxy],
  ] as const;

  describe.each(KINDS)('through proxy-url %s://', (scheme, start) => {
    test('reaches the server by the name that the proxy resolves', async () => {
      const proxy = await started(start());
      const { client } = await connectTo(named(), {
        'proxy-url': `${scheme}://127.0.0.1:${proxy.port}`,
      });
      await expect(client.get(WIDGETS, 'a')).resolves.toMatchObject({ kind: 'Widget' });
      expect(proxy.seen).toEqual([`api.test:${port()}`]);
    });

    test('reads a watch and writes beside it', async () => {
      const proxy = await started(start());
      const { client } = await connectTo(named(), {
        'proxy-url': `${scheme}://127.0.0.1:${proxy.port}`,
      });
      for await (const event of client.watch(WIDGETS, { resourceVersion: '1' })) {
        expect(event).toMatchObject({ type: 'ADDED' });
        await client.get(WIDGETS, 'a');
        break;
      }
    });

    test('presents the user and password of the URL', async () => {
      const proxy = await started(start({ credentials: 'us er:p@ss' }));
      const at = `127.0.0.1:${proxy.port}`;
      const { client } = await connectTo(named(), {
        'proxy-url': `${scheme}://us%20er:p%40ss@${at}`,
      });
      await expect(client.get(WIDGETS, 'a')).resolves.toMatchObject({ kind: 'Widget' });
    });

    test.each([
      ['a password without a user', ':p%40ss@', ':p@ss'],
      ['a user without a password', 'user@', 'user:'],
      ['a long password', `user:${'p'.repeat(255)}@`, `user:${'p'.repeat(255)}`],
    ])('presents %s', async (_, spelled, credentials) => {
      const proxy = await started(start({ credentials }));
      const { client } = await connectTo(named(), {
        'proxy-url': `${scheme}://${spelled}127.0.0.1:${proxy.port}`,
      });
      await expect(client.get(WIDGETS, 'a')).resolves.toMatchObject({ kind: 'Widget' });
    });

    test('reports a server whose name is too long', async () => {
      const proxy = await started(start());
      const name = `${'a'.repeat(60)}.`.repeat(5);
      const { client } = await connectTo(`https://${name}test:${port()}`, {
        'proxy-url': `${scheme}://127.0.0.1:${proxy.port}`,
      });
      await expect(client.get(WIDGETS, 'a')).rejects.toMatchObject({
        name: 'ConnectionError',
        // Through the other proxy, the certificate of the server lacks the name.
        message: expect.stringContaining(scheme === 'socks5' ? 'more than 255 bytes' : name),
      });
    });

    test('is refused with a wrong password, which the error lacks', async () => {
      const proxy = await started(start({ credentials: 'user:right' }));
      const at = `127.0.0.1:${proxy.port}`;
      const { client } = await connectTo(named(), { 'proxy-url': `${scheme}://user:SECRET@${at}` });
      const error = await client.get(WIDGETS, 'a').catch((thrown) => thrown);
      expect(error).toMatchObject({
        name: 'ConnectionError',
        message: expect.stringContaining(`through the proxy ${scheme}://${at}`),
        hint: expect.stringContaining('proxy-url'),
      });
      expect(inspect(error, { depth: null })).not.toContain('SECRET');
    });

    test('verifies the certificate of the server', async () => {
      const proxy = await started(start());
      const { client } = await connectTo(`https://other.test:${port()}`, {
        'proxy-url': `${scheme}://127.0.0.1:${proxy.port}`,
      });
      await expect(client.get(WIDGETS, 'a')).rejects.toThrow(/other\.test/);
    });

    test('reaches a plain server', async () => {
      const proxy = await started(start());
      const url = plain.url.replace('127.0.0.1', 'api.test');
      const { client } = await connectTo(url, {
        'proxy-url': `${scheme}://127.0.0.1:${proxy.port}`,
      });
      for await (const _ of client.watch(WIDGETS, { resourceVersion: '1' })) {
        await expect(client.get(WIDGETS, 'a')).resolves.toMatchObject({ kind: 'Widget' });
        break;
      }
      expect(proxy.seen.length).toBe(2);
    });

    test('sends nothing if the check right before fails', async () => {
      const proxy = await started(start());
      const transport = createTransport({
        server: plain.url,
        authenticate: async () => ({
          headers: {},
          tls: {},
          proxy: new URL(`${scheme}://127.0.0.1:${proxy.port}`),
        }),
        userAgent: 'test',
        requestTimeoutMs: 10_000,
      });
      plain.seen.length = 0;
      const check = () => {
        throw new Error('no longer the leader');
      };
      await expect(transport.send({ method: 'POST', path: '/', body: {}, check })).rejects.toThrow(
        'no longer the leader',
      );
      await transport.send({ method: 'GET', path: '/after' });
      expect(plain.seen.map(({ method }) => method)).toEqual(['GET']);
    });

    test('is made for HTTPS_PROXY, too', async () => {
      const proxy = await started(start());
      process.env.HTTPS_PROXY = `${scheme}://127.0.0.1:${proxy.port}`;
      const { client } = await connectTo(named());
      await client.get(WIDGETS, 'a');
      expect(proxy.seen).toEqual([`api.test:${port()}`]);
    });
  });

  test('goes directly to a server that NO_PROXY names', async () => {
    process.env.HTTPS_PROXY = 'http://127.0.0.1:1';
    process.env.NO_PROXY = '127.0.0.0/8';
    const { client } = await connectTo(`https://127.0.0.1:${port()}`);
    await expect(client.get(WIDGETS, 'a')).resolves.toMatchObject({ kind: 'Widget' });
  });

  test('uses the new proxy after a reload', async () => {
    const [first, second] = [await started(startHttpProxy()), await started(startSocksProxy())];
    const { client, reload } = await connectTo(named(), {
      'proxy-url': `http://127.0.0.1:${first.port}`,
    });
    await client.get(WIDGETS, 'a');
    await connectTo(named(), { 'proxy-url': `socks5://127.0.0.1:${second.port}` });
    reload();
    await client.get(WIDGETS, 'a');
    expect([first.seen.length, second.seen.length]).toEqual([1, 1]);
  });

  test('reports a proxy that refuses the server', async () => {
    const proxy = await started(startHttpProxy({ status: 403 }));
    const { client } = await connectTo(named(), { 'proxy-url': `http://127.0.0.1:${proxy.port}` });
    await expect(client.get(WIDGETS, 'a')).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('403'),
    });
  });

  test.each(KINDS)(
    'reports a proxy %s:// that does not answer as a timeout',
    async (scheme, start) => {
      const proxy = await started(start({ silent: true }));
      const url = `${scheme}://127.0.0.1:${proxy.port}`;
      const { client } = await connectTo(named(), { 'proxy-url': url }, 100);
      const error = await client.get(WIDGETS, 'a').catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining(url) });
    },
  );

  test('leaves client-node no proxy, for which it would load libraries', async () => {
    await connectTo(named(), { 'proxy-url': 'http://p' });
    const { config, proxyUrl } = await loadKubeconfig({ kubeconfig: join(folder, 'config') });
    expect([proxyUrl, config.getCurrentCluster()?.proxyUrl]).toEqual(['http://p', undefined]);
  });

  test('is refused for an unusable proxy-url', async () => {
    await expect(connectTo(named(), { 'proxy-url': 'ftp://p' })).rejects.toMatchObject({
      message: expect.stringContaining('ftp://p'),
    });
  });
});
