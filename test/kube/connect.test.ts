import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { connect } from '../../src/kube/connect.ts';
import { type FakeApi, fakeApi, json, status, WIDGETS, widget } from '../support/fake-api.ts';

let folder: string;
let api: FakeApi;
const environment = { HOME: process.env.HOME, KUBECONFIG: process.env.KUBECONFIG };

beforeAll(async () => {
  api = await fakeApi(({ headers }, response) =>
    headers.authorization === 'Bearer stale'
      ? json(response, status(401, 'Unauthorized'), 401)
      : json(response, widget('a', 1)),
  );
});
afterAll(() => api.close());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stowage-kubeconfig-'));
  process.env.HOME = folder;
  delete process.env.KUBECONFIG;
  api.seen.length = 0;
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

interface Parts {
  name?: string;
  server?: string;
  cluster?: object;
  user?: object | null;
  context?: object;
  current?: string | null;
}

/** Writes a kubeconfig of one context, as JSON, which is YAML. */
function kubeconfig({ name = 'c', server = api.url, ...parts }: Parts = {}, file = 'config'): string {
  const path = join(folder, file);
  const user = parts.user === null ? [] : [{ name, user: parts.user ?? {} }];
  const config = {
    clusters: [{ name, cluster: { server, ...parts.cluster } }],
    users: user,
    contexts: [{ name, context: { cluster: name, user: name, ...parts.context } }],
    ...(parts.current === null ? {} : { 'current-context': parts.current ?? name }),
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** The headers that a request over the connection carries. */
async function headersWith(options: Parameters<typeof connect>[0]) {
  const { client } = await connect(options);
  await client.get(WIDGETS, 'a');
  return api.seen.at(-1)?.headers ?? {};
}

describe('credentials', () => {
  test.each<[string, object | null, string | undefined]>([
    ['none', null, undefined],
    ['a token', { token: 'secret' }, 'Bearer secret'],
    ['a password', { username: 'u', password: 'p' }, 'Basic dTpw'],
  ])('%s', async (_, user, authorization) => {
    expect((await headersWith({ kubeconfig: kubeconfig({ user }) })).authorization).toBe(authorization);
  });

  test.each([null, { token: 'secret' }])('impersonate with --as (user %j)', async (user) => {
    const headers = await headersWith({ kubeconfig: kubeconfig({ user }), as: 'jane', version: '1.2.3' });
    expect([headers['impersonate-user'], headers['user-agent']]).toEqual(['jane', 'stowage/1.2.3']);
  });

  test('an exec plugin is run once for many requests, and again after a 401', async () => {
    const runs = join(folder, 'runs');
    // The first answer is refused: a token that was revoked before its time.
    const script = `echo x >> ${runs}; [ $(wc -l < ${runs}) = 1 ] && T=stale || T=fresh;
      echo '{"kind":"ExecCredential","status":{"token":"'$T'"}}'`;
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] };
    const { client } = await connect({ kubeconfig: kubeconfig({ user: { exec } }) });
    await client.get(WIDGETS, 'a');
    await Promise.all([client.get(WIDGETS, 'a'), client.get(WIDGETS, 'a')]);
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer stale',
      'Bearer fresh',
      'Bearer fresh',
      'Bearer fresh',
    ]);
  });

  test('an exec plugin that fails is told with what it said', async () => {
    const exec = { command: 'sh', args: ['-c', 'echo log in first >&2; exit 1'] };
    const { client } = await connect({ kubeconfig: kubeconfig({ user: { exec } }) });
    await expect(client.get(WIDGETS, 'a')).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('log in first'),
    });
  });

  test('a certificate that is not there is told', async () => {
    const path = kubeconfig({ user: { 'client-certificate': 'missing.crt' } });
    const { client } = await connect({ kubeconfig: path });
    await expect(client.get(WIDGETS, 'a')).rejects.toThrow(/missing\.crt/);
  });
});

describe('the kubeconfig', () => {
  test.each([
    [{}, {}, 'default'],
    [{ namespace: 'ns' }, {}, 'ns'],
    [{ namespace: 'ns' }, { namespace: 'flag' }, 'flag'],
  ])('gives the namespace (context %j, flags %j)', async (context, flags, namespace) => {
    const connection = await connect({ kubeconfig: kubeconfig({ context }), ...flags });
    expect([connection.namespace, connection.server]).toEqual([namespace, api.url]);
  });

  test('may give a server with a path', async () => {
    await headersWith({ kubeconfig: kubeconfig({ server: `${api.url}/clusters/c-1/` }) });
    expect(api.seen[0]?.url).toBe('/clusters/c-1/apis/example.com/v1/widgets/a');
  });

  test('is merged from $KUBECONFIG: missing files are skipped, the first of a name wins', async () => {
    const first = kubeconfig({ name: 'c', server: api.url, current: null }, 'first');
    const second = kubeconfig({ name: 'c', server: 'http://127.0.0.1:1' }, 'second');
    const third = kubeconfig({ name: 'd', server: 'http://127.0.0.1:2' }, 'third');
    process.env.KUBECONFIG = [join(folder, 'missing'), first, second, third].join(':');
    expect((await connect({})).server).toBe(api.url);
    expect((await connect({ context: 'd' })).server).toBe('http://127.0.0.1:2');
  });

  test('is ~/.kube/config when nothing else is said', async () => {
    mkdirSync(join(folder, '.kube'));
    kubeconfig({}, join('.kube', 'config'));
    expect((await connect({})).server).toBe(api.url);
  });

  test.each<[string, () => Parameters<typeof connect>[0], object]>([
    ['is missing', () => ({}), { code: 'failed', message: 'No kubeconfig was found' }],
    [
      'named by flag is missing',
      () => ({ kubeconfig: '/missing' }),
      { code: 'failed', message: expect.stringContaining('/missing') },
    ],
    [
      'is empty',
      () => {
        const path = join(folder, 'empty');
        writeFileSync(path, '');
        return { kubeconfig: path };
      },
      { code: 'failed', message: expect.stringContaining('empty cannot be used') },
    ],
    [
      'lacks the context of the flag',
      () => ({ kubeconfig: kubeconfig(), context: 'nope' }),
      { code: 'usage', hint: 'There are: c.' },
    ],
    [
      'lacks its own current context',
      () => ({ kubeconfig: kubeconfig({ current: 'nope' }) }),
      { code: 'failed', hint: 'There are: c.' },
    ],
    [
      'has no current context',
      () => ({ kubeconfig: kubeconfig({ current: null }) }),
      { code: 'failed', hint: expect.stringContaining('--context') },
    ],
    [
      'lacks the cluster of the context',
      () => ({ kubeconfig: kubeconfig({ context: { cluster: 'nope' } }) }),
      { code: 'failed', message: expect.stringContaining('no usable server: none') },
    ],
    [
      'gives a server that is no URL',
      () => ({ kubeconfig: kubeconfig({ server: 'nowhere' }) }),
      { code: 'failed', message: expect.stringContaining('nowhere') },
    ],
    [
      'goes through a proxy',
      () => ({ kubeconfig: kubeconfig({ cluster: { 'proxy-url': 'http://p' } }) }),
      { code: 'failed', message: expect.stringContaining('http://p') },
    ],
  ])('%s', async (_, options, error) => {
    await expect(connect(options())).rejects.toMatchObject({ name: 'StowageError', ...error });
  });

  test('that $KUBECONFIG names is missing', async () => {
    process.env.KUBECONFIG = '/missing';
    await expect(connect({})).rejects.toMatchObject({ message: expect.stringContaining('/missing') });
  });
});
