import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { connect } from '../../src/kube/connect.ts';
import { contextNames } from '../../src/kube/kubeconfig.ts';
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

/** Writes a kubeconfig of one context, as JSON, which is valid YAML. */
function kubeconfig(
  { name = 'c', server = api.url, ...parts }: Parts = {},
  file = 'config',
): string {
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

/** Returns the headers of a request over the connection. */
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
  ])('set the Authorization header: %s', async (_, user, authorization) => {
    expect((await headersWith({ kubeconfig: kubeconfig({ user }) })).authorization).toBe(
      authorization,
    );
  });

  test.each([null, { token: 'secret' }])('impersonate with --as (user %j)', async (user) => {
    const headers = await headersWith({
      kubeconfig: kubeconfig({ user }),
      as: 'jane',
      version: '1.2.3',
    });
    expect([headers['impersonate-user'], headers['user-agent']]).toEqual(['jane', 'stowage/1.2.3']);
  });

  test('an exec plugin is run once for many requests, and again after a 401', async () => {
    const runs = join(folder, 'runs');
    // The first token is refused, as if it was revoked early.
    const script = `echo x >> ${runs}; [ $(wc -l < ${runs}) = 1 ] && T=stale || T=fresh;
      echo '{"kind":"ExecCredential","status":{"token":"'$T'"}}'`;
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'sh',
      args: ['-c', script],
    };
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

  test('reports the stderr of an exec plugin that fails', async () => {
    const exec = { command: 'sh', args: ['-c', 'echo log in first >&2; exit 1'] };
    const { client } = await connect({ kubeconfig: kubeconfig({ user: { exec } }) });
    await expect(client.get(WIDGETS, 'a')).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('log in first'),
    });
  });

  test('a relative path of an exec plugin starts at the directory of the kubeconfig', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'stowage-elsewhere-'));
    const answer = (token: string) =>
      `#!/bin/sh\necho '{"kind":"ExecCredential","status":{"token":"${token}"}}'\n`;
    writeFileSync(join(folder, 'plugin'), answer('beside'), { mode: 0o755 });
    writeFileSync(join(elsewhere, 'plugin'), answer('elsewhere'), { mode: 0o755 });
    const path = kubeconfig({ user: { exec: { command: './plugin' } } });
    const before = process.cwd();
    process.chdir(elsewhere);
    try {
      expect((await headersWith({ kubeconfig: path })).authorization).toBe('Bearer beside');
    } finally {
      process.chdir(before);
      rmSync(elsewhere, { recursive: true });
    }
  });

  test.each<[string, object, object]>([
    [
      'prints no JSON, without its output, which may contain a token',
      { command: 'echo', args: ['SECRET'] },
      {
        code: 'forbidden',
        message: expect.stringMatching(/: the exec plugin echo printed no JSON$/),
      },
    ],
    [
      'waits for input',
      { command: 'sh', args: ['-c', 'read name || { echo nobody answers >&2; exit 1; }'] },
      { message: expect.stringContaining('nobody answers') },
    ],
    [
      'requires a terminal',
      { command: 'true', interactiveMode: 'Always' },
      { message: expect.stringContaining('the exec plugin true needs a terminal') },
    ],
    [
      'is not installed',
      { command: 'stowage-no-such-plugin', installHint: 'Install it from there.' },
      { code: 'failed', hint: 'Install it from there.' },
    ],
    [
      'receives interactive: false in its environment',
      {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: 'sh',
        args: ['-c', 'echo "$KUBERNETES_EXEC_INFO" >&2; exit 1'],
      },
      {
        message: expect.stringContaining(
          '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}}',
        ),
      },
    ],
  ])('reports the error of an exec plugin that %s', async (_, exec, error) => {
    const { client } = await connect({ kubeconfig: kubeconfig({ user: { exec } }) });
    await expect(client.get(WIDGETS, 'a')).rejects.toMatchObject({
      name: 'StowageError',
      ...error,
    });
  });

  describe('an exec plugin with provideClusterInfo', () => {
    const CA = Buffer.from('a CA').toString('base64');
    const extension = {
      extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } }],
    };

    test.each<[string, object, object, object]>([
      ['the server', {}, {}, {}],
      [
        'all fields of the cluster',
        {
          'tls-server-name': 'api.test',
          'certificate-authority-data': CA,
          'disable-compression': true,
          'proxy-url': 'socks5://p:1080',
          ...extension,
        },
        { server: 'https://127.0.0.1:1/clusters/c-1' },
        {
          'tls-server-name': 'api.test',
          'certificate-authority-data': CA,
          'proxy-url': 'socks5://p:1080',
          'disable-compression': true,
          config: { audience: 'x' },
        },
      ],
      [
        'the content of a CA file',
        { 'certificate-authority': 'ca.crt' },
        {},
        { 'certificate-authority-data': CA },
      ],
      [
        'that the certificate is not verified',
        { 'insecure-skip-tls-verify': true },
        { server: 'https://127.0.0.1:1' },
        { 'insecure-skip-tls-verify': true },
      ],
      [
        'no extension for others',
        { extensions: [{ name: 'minikube', extension: { a: 1 } }] },
        {},
        {},
      ],
    ])('gets %s', async (_, cluster, parts, fields) => {
      writeFileSync(join(folder, 'ca.crt'), 'a CA');
      const exec = {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: 'sh',
        args: ['-c', `echo "$KUBERNETES_EXEC_INFO" >${folder}/info; exit 1`],
        provideClusterInfo: true,
      };
      const server = api.url;
      const kube = kubeconfig({ server, cluster, user: { exec }, ...parts });
      const { client } = await connect({ kubeconfig: kube });
      await expect(client.get(WIDGETS, 'a')).rejects.toMatchObject({ code: 'forbidden' });
      expect(JSON.parse(readFileSync(join(folder, 'info'), 'utf8'))).toEqual({
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        spec: { cluster: { server, ...parts, ...fields }, interactive: false },
      });
    });

    test('gets the extension of the file whose cluster is used', async () => {
      const exec = {
        command: 'sh',
        args: ['-c', `echo "$KUBERNETES_EXEC_INFO" >${folder}/info; exit 1`],
        provideClusterInfo: true,
      };
      const first = kubeconfig({ user: { exec } }, 'first');
      const second = kubeconfig({ cluster: extension, user: { exec } }, 'second');
      for (const [files, config] of [
        [[first, second], undefined],
        [[second, first], { audience: 'x' }],
      ] as const) {
        process.env.KUBECONFIG = files.join(':');
        const { client } = await connect({});
        await expect(client.get(WIDGETS, 'a')).rejects.toMatchObject({ code: 'forbidden' });
        const { spec } = JSON.parse(readFileSync(join(folder, 'info'), 'utf8'));
        expect(spec.cluster.config).toEqual(config);
      }
    });
  });

  test('reports a hanging exec plugin as a timeout of credentials, not of the server', async () => {
    // Ends when the test's directory is removed.
    const exec = { command: 'sh', args: ['-c', `while test -d ${folder}; do sleep 0.05; done`] };
    const { client } = await connect({
      kubeconfig: kubeconfig({ user: { exec } }),
      requestTimeoutMs: 50,
    });
    await expect(client.get(WIDGETS, 'a')).rejects.toMatchObject({
      code: 'timeout',
      message: `Timed out waiting for credentials for ${api.url}`,
    });
  });

  test.each([
    ['an absolute path', (path: string) => path],
    ['a path relative to the kubeconfig', () => 'token'],
  ])('a token in a file, by %s, takes precedence over an inline token', async (_, nameOf) => {
    const path = join(folder, 'token');
    writeFileSync(path, 'fresh\n');
    const user = { token: 'old', tokenFile: nameOf(path) };
    expect((await headersWith({ kubeconfig: kubeconfig({ user }) })).authorization).toBe(
      'Bearer fresh',
    );
  });

  test('reports a missing token file', async () => {
    const { client } = await connect({
      kubeconfig: kubeconfig({ user: { tokenFile: 'nowhere' } }),
    });
    await expect(client.get(WIDGETS, 'a')).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('nowhere'),
    });
  });

  test('include the user, groups, UID and extra fields to impersonate', async () => {
    const user = {
      as: 'jane',
      'as-groups': ['a', 'b'],
      'as-uid': '7',
      'as-user-extra': { 'Example.com/Scope': ['x'] },
    };
    expect(await headersWith({ kubeconfig: kubeconfig({ user }) })).toMatchObject({
      'impersonate-user': 'jane',
      'impersonate-group': 'a, b',
      'impersonate-uid': '7',
      'impersonate-extra-example.com%2fscope': 'x',
    });
  });

  test('reports a missing certificate', async () => {
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

  test('may have a server URL with a path', async () => {
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

  test.each<[string, string]>([
    ['nothing', ''],
    ['white space', ' \n\t\n'],
    ['a comment', '# No clusters yet\n'],
    ['a comment with words that client-node leaves out', '# tokenFile: /x\n# as-groups: []\n'],
    ['such a comment in two documents', '---\n# tokenFile\n---\n# as-uid\n'],
    ['a comment in a document', '---\r\n# No clusters yet\r\n...\n'],
    ['null', 'null\n'],
    ['no entry', 'apiVersion: v1\nkind: Config\nclusters: null\nusers: []\n'],
    ['no entry, and a word of other fields', 'users: # tokenFile\nclusters: # disable-compression'],
  ])('may be a file with %s among others', async (_, text) => {
    const empty = join(folder, 'empty');
    writeFileSync(empty, text);
    const good = kubeconfig();
    for (const files of [
      [empty, good],
      [good, empty],
    ]) {
      process.env.KUBECONFIG = files.join(':');
      expect((await connect({})).server).toBe(api.url);
      await expect(contextNames({})).resolves.toEqual(['c']);
    }
  });

  test('is ~/.kube/config by default', async () => {
    mkdirSync(join(folder, '.kube'));
    kubeconfig({}, join('.kube', 'config'));
    expect((await connect({})).server).toBe(api.url);
  });

  test.each<[string, () => Parameters<typeof connect>[0], object]>([
    ['no file', () => ({}), { code: 'failed', message: 'No kubeconfig was found' }],
    [
      'a missing file named by a flag',
      () => ({ kubeconfig: '/missing' }),
      { code: 'failed', message: expect.stringContaining('/missing') },
    ],
    [
      'only an empty file',
      () => {
        const path = join(folder, 'empty');
        writeFileSync(path, '');
        return { kubeconfig: path };
      },
      { code: 'failed', message: expect.stringContaining('empty has no current context') },
    ],
    [
      'a flag for an unknown context',
      () => ({ kubeconfig: kubeconfig(), context: 'nope' }),
      { code: 'usage', hint: 'Choose one of the known contexts: c.' },
    ],
    [
      'an unknown current-context',
      () => ({ kubeconfig: kubeconfig({ current: 'nope' }) }),
      { code: 'failed', hint: 'Choose one of the known contexts: c.' },
    ],
    [
      'no current-context',
      () => ({ kubeconfig: kubeconfig({ current: null }) }),
      { code: 'failed', hint: expect.stringContaining('--context') },
    ],
    [
      'a context without its cluster',
      () => ({ kubeconfig: kubeconfig({ context: { cluster: 'nope' } }) }),
      { code: 'failed', message: expect.stringContaining('no usable server: none') },
    ],
    [
      'a server that is not a URL',
      () => ({ kubeconfig: kubeconfig({ server: 'nowhere' }) }),
      { code: 'failed', message: expect.stringContaining('nowhere') },
    ],
    [
      'a CA and insecure-skip-tls-verify',
      () => ({
        kubeconfig: kubeconfig({
          cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': 'YQ==' },
        }),
      }),
      {
        code: 'failed',
        message: expect.stringContaining('cluster c has both a CA and insecure-skip-tls-verify'),
      },
    ],
  ])('is refused: %s', async (_, options, error) => {
    await expect(connect(options())).rejects.toMatchObject({ name: 'StowageError', ...error });
  });

  test.each([
    ['users: [{name: c, user: {token: SECRET: x}}]', /invalid YAML: line 1, column \d+: /],
    ['users: [{name: c, user: {token: *SECRET}}]', /invalid YAML: line 1, column \d+: /],
    ['a: "\nb: [\n  token: SECRET', /invalid YAML: line \d, column \d+: /],
  ])('is not quoted in the error if it is invalid: %j', async (text, message) => {
    const path = join(folder, 'broken');
    writeFileSync(path, text);
    const error: Error = await connect({ kubeconfig: path }).catch((thrown) => thrown);
    expect(error.message).toMatch(message);
    expect(inspect(error)).not.toContain('SECRET');
  });

  describe('is read again', () => {
    const token = (file: string) => kubeconfig({ user: { token: file } });
    const tokensSeen = () => api.seen.map(({ headers }) => headers.authorization);

    test('on reload(), and an invalid file keeps the earlier credentials', async () => {
      const { client, reload } = await connect({ kubeconfig: token('one') });
      await client.get(WIDGETS, 'a');
      token('two');
      await client.get(WIDGETS, 'a');
      reload();
      await client.get(WIDGETS, 'a');
      writeFileSync(token('three'), '{');
      reload();
      await client.get(WIDGETS, 'a');
      expect(tokensSeen()).toEqual(['Bearer one', 'Bearer one', 'Bearer two', 'Bearer two']);
    });

    test('after a failed connection, as the server may have moved', async () => {
      const { client } = await connect({
        kubeconfig: kubeconfig({ server: 'http://127.0.0.1:1' }),
      });
      await expect(client.create(WIDGETS, widget('a', 1))).rejects.toThrow('ECONNREFUSED');
      token('moved');
      await client.get(WIDGETS, 'a');
      expect(tokensSeen()).toEqual(['Bearer moved']);
    });

    test('without another run of the exec plugin if the file is unchanged', async () => {
      const runs = join(folder, 'runs');
      const script = `echo x >> ${runs}; echo '{"kind":"ExecCredential","status":{"token":"t"}}'`;
      const exec = { command: 'sh', args: ['-c', script] };
      const path = kubeconfig({ server: 'http://127.0.0.1:1', user: { exec } });
      const { client } = await connect({ kubeconfig: path });
      for (let time = 0; time < 3; time++) {
        await expect(client.create(WIDGETS, widget('a', 1))).rejects.toThrow('ECONNREFUSED');
      }
      expect(readFileSync(runs, 'utf8')).toBe('x\n');
    });
  });

  test('is refused if $KUBECONFIG names a missing file', async () => {
    process.env.KUBECONFIG = '/missing';
    await expect(connect({})).rejects.toMatchObject({
      message: expect.stringContaining('/missing'),
    });
  });
});
