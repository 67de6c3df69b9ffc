import { describe, expect, test } from '@jest/globals';
import { redact } from '../../../src/cli/support-bundle/redact/redact.ts';
import { isSensitiveName } from '../../../src/cli/support-bundle/redact/sensitive-name.ts';

const begin = (kind = 'RSA ') => `-----BEGIN ${kind}PRIVATE KEY-----`;
const end = (kind = 'RSA ') => `-----END ${kind}PRIVATE KEY-----`;
const BASE64 = 'MIIEpAIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo';
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';

describe('a text loses', () => {
  test.each<[what: string, text: string, left: string]>([
    ['the user of a URL', 'get https://ann:pw1@h/p: 404', 'get https://REMOVED@h/p: 404'],
    ['a token as user', 'https://tok1@h:8443/p', 'https://REMOVED@h:8443/p'],
    ['a password with an @', 'https://ann:p@w1@h/p', 'https://REMOVED@h/p'],
    ['a password with a slash', 'bad URL "https://ann:p/w1@h/p"', 'bad URL "https://REMOVED@h/p"'],
    ['the user of an escaped URL', '"https:\\/\\/ann:pw1@h\\/p"', '"https:\\/\\/REMOVED@h\\/p"'],
    ['the user of an encoded URL', 'u=https%3A%2F%2Fann%3Apw1%40h', 'u=https%3A%2F%2FREMOVED%40h'],
    ['the user of a URL without scheme', 'from //ann:pw1@h/p', 'from //REMOVED@h/p'],
    ['a query', 's3://b/k?X-Amz-Signature=abc&x=1 done', 's3://b/k?REMOVED done'],
    ['a query with escapes', '"https://h/p?a=1\\u0026sig=abc",', '"https://h/p?REMOVED",'],
    ['a query in escaped quotes', '\\"https://h/p?a=1\\",', '\\"https://h/p?REMOVED\\",'],
    ['a fragment', 'https://h/p#access_token=abc', 'https://h/p?REMOVED'],
    ['a query of a path', 'GET /p?token=abc&x=1', 'GET /p?token=REMOVED'],
    ['an Authorization header', 'authorization: Digest a, b', 'authorization: REMOVED'],
    ['a header in quotes', '"Authorization":"Basic a b","x":1', '"Authorization":"REMOVED","x":1'],
    ['a header of curl', "-H 'X-Auth-Token: abc d'", "-H 'X-Auth-Token: REMOVED"],
    ['a cookie', 'Set-Cookie: sid=abc; Path=/', 'Set-Cookie: REMOVED'],
    ['a bearer token', 'sent bearer abcdefgh, failed', 'sent bearer REMOVED, failed'],
    ['basic credentials', 'sent Basic YTpi, failed', 'sent Basic REMOVED, failed'],
    ['a variable', 'a DB_PASSWORD=abc x=1', 'a DB_PASSWORD=REMOVED x=1'],
    ['a variable of a file', 'export_token=a b', 'export_token=REMOVED'],
    ['a quoted value', 'x=1 token="a b" y=2', 'x=1 token="REMOVED" y=2'],
    ['a value with a quote', 'x {"token": "a\\"b", "y": 2', 'x {"token": "REMOVED", "y": 2'],
    ['a value in escaped JSON', 'x: \\"apiKey\\":\\"a b\\",', 'x: \\"apiKey\\":\\"REMOVED\\",'],
    ['a quote in escaped JSON', 'x: \\"token\\":\\"a\\\\\\"b\\",', 'x: \\"token\\":\\"REMOVED\\",'],
    ['a value without end', 'x {"password":"a b', 'x {"password":"REMOVED'],
    ['a line of YAML', '  password: a b c', '  password: REMOVED'],
    ['an item of YAML', '- token: a b c', '- token: REMOVED'],
    ['a block of YAML', 'a: 1\npassword: |\n  a\n\n  b\nc: 2', 'a: 1\npassword: REMOVED\nc: 2'],
    [
      'a block of YAML in another',
      'config: |\n  a: 1\n  token: |\n    a\n    b\n  c: 2\nd: 3',
      'config: |\n  a: 1\n  token: REMOVED\n  c: 2\nd: 3',
    ],
    ['a block of YAML at its end', '- password: >-\n    a\n', '- password: REMOVED\n'],
    [
      'a Secret in YAML',
      'kind: ConfigMap\ndata:\n  a: b\n---\nkind: Secret\ndata:\n  c: d\nstringData: {e: f}\ntype: x\n',
      'kind: ConfigMap\ndata:\n  a: b\n---\nkind: Secret\ndata: REMOVED\nstringData: REMOVED\ntype: x\n',
    ],
    [
      'a list of Secrets in YAML',
      'items:\n- data:\n    c: d\n  metadata:\n    name: s\nkind: SecretList\n',
      'items:\n- data: REMOVED\nkind: SecretList\n',
    ],
    ['a variable of libpq', 'x PGPASSWORD=abc psql', 'x PGPASSWORD=REMOVED psql'],
    ['a variable of sshpass', 'x SSHPASS=abc y', 'x SSHPASS=REMOVED y'],
    ['a short variable', 'x DB_PASS=abc PASS=def', 'x DB_PASS=REMOVED PASS=REMOVED'],
    ['a variable of Redis', 'x REDISCLI_AUTH=abc y', 'x REDISCLI_AUTH=REMOVED y'],
    ['a short flag', 'run --pass abc -v', 'run --pass REMOVED -v'],
    ['a login of a registry', 'x {"auth": "YTpi", "y": 2', 'x {"auth": "REMOVED", "y": 2'],
    ['a JWT after other parts', `x-${JWT} a.${JWT}`, 'x-REMOVED a.REMOVED'],
    ['each of several', 'x token=a password=b', 'x token=REMOVED password=REMOVED'],
    ['a sensitive name in a value', 'msg="token=a b"', 'msg="token=REMOVED b"'],
    ['a flag', 'run --client-secret abc -v', 'run --client-secret REMOVED -v'],
    ['a flag with =', 'run --token=abc -v', 'run --token=REMOVED -v'],
    ['a user of curl', 'curl -u ann:pw1 x', 'curl -u REMOVED x'],
    ['a netrc', 'machine h login ann password pw1', 'machine h login ann password REMOVED'],
    ['a quoted password', 'password "a b" is wrong', 'password REMOVED is wrong'],
    ['a key with a space', 'API key: abc', 'API key: REMOVED'],
    ['a JWT', `got ${JWT}.`, 'got REMOVED'],
    ['a token of GitHub', `got ghp_${'a1'.repeat(18)}`, 'got REMOVED'],
    ['an access key of AWS', `got AKIA${'A1'.repeat(8)}`, 'got REMOVED'],
    ['a bootstrap token', 'got abc123.0123456789uvwxyz', 'got REMOVED'],
    ['a key in base64', `k: ${Buffer.from(begin() + BASE64).toString('base64')}`, 'k: REMOVED'],
    ['a private key', `a\n${begin()}\n${BASE64}\n${end()}\nb`, 'a\nREMOVED\nb'],
    ['a key of OpenSSH', `${begin('OPENSSH ')}\n${BASE64}\n${end('OPENSSH ')}`, 'REMOVED'],
    ['a key on one line', `"${begin('')}\\n${BASE64}\\n${end('')}"`, '"REMOVED"'],
    ['a key without end', `a\n${begin()}\n${BASE64}\n${BASE64}`, 'a\nREMOVED'],
    [
      'a key in lines of a log',
      `t1 ${begin()}\nt2 ${BASE64}\nt3 ${end()}\nt4 b`,
      't1 REMOVED\nt4 b',
    ],
    ['a key without start', `a\nt1 ${BASE64}\nt2 ${BASE64}\nt3 ${end()}\nb`, 'a\nt3 REMOVED\nb'],
    ['a field of JSON', '{"level":30,"token":"a b"}', '{"level":30,"token":"REMOVED"}'],
    [
      'a field of JSON after a time',
      '2030-01-01T00:00:00Z {"headers":{"cookie":["a"]},"msg":"token=b"}',
      '2030-01-01T00:00:00Z {"headers":{"cookie":["REMOVED"]},"msg":"token=REMOVED"}',
    ],
  ])('%s', (_what, text, left) => {
    expect(redact(text)).toBe(left);
    // A file is redacted again as a whole.
    expect(redact(left)).toBe(left);
  });
});

test.each([
  'node n1: Permission denied (publickey,password).',
  'sudo: a password is required',
  'MountVolume.SetUp failed for volume "ssh" : secret "stowage-ssh" not found',
  'secrets "stowage-ssh" is forbidden: User "ann" cannot get resource "secrets"',
  '--salt-secret-file=/etc/stowage/salt/secret --salt-url=https://salt:8000/',
  'ssh: connect to host n1 port 22: Connection refused, user@n1',
  'https://example.com:8443/@scope/image.raw: 404 Not Found',
  'basic authentication failed; bearer authentication is required',
  '/dev/disk/by-id/stowage-0c3cd1ea-54d8-4e2f-9e0f-4a3b2c1d0e9f',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl n1',
  '-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo\n-----END CERTIFICATE-----',
  'data01.18a3f5b2c4d6e7f8',
  '{"a": 12345678901234567890}',
])('%s stays', (text) => {
  expect(redact(text)).toBe(text);
});

describe('an object', () => {
  test.each<[what: string, object: object, left: object]>([
    [
      'loses last-applied-configuration',
      { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', a: 'b' } },
      {
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'REMOVED', a: 'b' },
      },
    ],
    [
      'keeps variables of Stowage and references',
      {
        env: [
          { name: 'STOWAGE_TRANSPORT', value: 'ssh' },
          { name: 'STOWAGE_SALT_URL', value: 'https://a:b@salt:8000/' },
          { name: 'GREETING', value: 'hello' },
          { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'password' } } },
          { name: 'B', secret: { name: 's', key: 'k' } },
        ],
      },
      {
        env: [
          { name: 'STOWAGE_TRANSPORT', value: 'ssh' },
          { name: 'STOWAGE_SALT_URL', value: 'https://REMOVED@salt:8000/' },
          { name: 'GREETING', value: 'REMOVED' },
          { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'password' } } },
          { name: 'B', secret: { name: 's', key: 'k' } },
        ],
      },
    ],
    [
      'keeps references to Secrets',
      {
        authorizationSecretRef: { name: 's', key: 'k' },
        volumes: [
          { name: 'ssh', secret: { secretName: 'stowage-ssh', defaultMode: 288 } },
          { serviceAccountToken: { audience: 'salt', expirationSeconds: 3600, path: 'secret' } },
        ],
        automountServiceAccountToken: false,
        imagePullSecrets: [{ name: 'pull' }],
      },
      {
        authorizationSecretRef: { name: 's', key: 'k' },
        volumes: [
          { name: 'ssh', secret: { secretName: 'stowage-ssh', defaultMode: 288 } },
          { serviceAccountToken: { audience: 'salt', expirationSeconds: 3600, path: 'secret' } },
        ],
        automountServiceAccountToken: false,
        imagePullSecrets: [{ name: 'pull' }],
      },
    ],
    [
      'loses values of sensitive names',
      { password: 'a', tokens: ['a', 1], credentials: { user: 'a', more: [{ data: 'b' }] } },
      {
        password: 'REMOVED',
        tokens: ['REMOVED', 'REMOVED'],
        credentials: { user: 'REMOVED', more: [{ data: 'REMOVED' }] },
      },
    ],
    [
      'loses values of named pairs',
      { headers: [{ name: 'X-Api-Key', value: 'a' }] },
      { headers: [{ name: 'X-Api-Key', value: 'REMOVED' }] },
    ],
    [
      'loses arguments after a flag',
      { args: ['--token', 'a', '--verbose', 'b', '--url=https://a:b@h/'] },
      { args: ['--token', 'REMOVED', '--verbose', 'b', '--url=https://REMOVED@h/'] },
    ],
    [
      'loses the data of a Secret',
      { items: [{ kind: 'Secret', data: { a: 'b' }, stringData: { c: 'd' } }] },
      { items: [{ kind: 'Secret', data: { a: 'REMOVED' }, stringData: { c: 'REMOVED' } }] },
    ],
    [
      'loses the data of a list of Secrets',
      { kind: 'SecretList', items: [{ metadata: { name: 's' }, data: { a: 'b' } }] },
      { kind: 'SecretList', items: [{ metadata: { name: 's' }, data: { a: 'REMOVED' } }] },
    ],
    [
      'loses secrets in JSON within a text',
      { annotations: { a: '{"auths":[{"password":"a"}],"env":[{"name":"A","value":"b"}]}' } },
      {
        annotations: {
          a: '{"auths":[{"password":"REMOVED"}],"env":[{"name":"A","value":"REMOVED"}]}',
        },
      },
    ],
    [
      'loses secrets in its keys',
      { labels: { 'token=a': 'b' } },
      { labels: { 'token=REMOVED': 'REMOVED' } },
    ],
  ])('%s', (_what, object, left) => {
    expect(redact(object)).toEqual(left);
  });

  test('keeps host and path of a data source', () => {
    const url = 'https://ann:pw1@images.example:8443/a/b.raw?token=abc#x';
    expect(redact({ spec: { source: { url } } })).toEqual({
      spec: { source: { url: 'https://REMOVED@images.example:8443/a/b.raw?REMOVED' } },
    });
  });

  test('is redacted at any depth', () => {
    let nested: object = { password: 'deep-secret' };
    for (let depth = 0; depth < 10_000; depth += 1) nested = { a: nested };
    expect(JSON.stringify(redact(nested))).toContain('"REMOVED"');
    expect(JSON.stringify(redact(nested))).not.toContain('deep-secret');
    const text = `${'['.repeat(3_000)}"token=deep-secret"${']'.repeat(3_000)}`;
    expect(redact(text)).not.toContain('deep-secret');
    const deeper = `${'['.repeat(20_000)}"a"${']'.repeat(20_000)}`;
    expect(redact({ annotations: { a: deeper } })).toEqual({ annotations: { a: 'REMOVED' } });
  });
});

test.each([
  ['token', true],
  ['DB_PASSWORD_1', true],
  ['clientSecret', true],
  ['AWS_SECRET_ACCESS_KEY', true],
  ['client-key-data', true],
  ['X-Vault-Token', true],
  ['PGPASSWORD', true],
  ['DBPassword', true],
  ['DB_PASS', true],
  ['PASS', true],
  ['SSHPASS', true],
  ['REDISCLI_AUTH', true],
  ['auth', true],
  ['authMode', false],
  ['passCount', false],
  ['compass', false],
  ['secretName', false],
  ['--salt-secret-file', false],
  ['authorizationSecretRef', false],
  ['stowage.dev/authorization-hosts', false],
  ['tokenExpirationSeconds', false],
  ['key', false],
  ['monkey', false],
  ['tokenizer', false],
])('%s is sensitive: %s', (name, isSensitive) => {
  expect(isSensitiveName(name)).toBe(isSensitive);
});

/** Time (ms) in which texts are redacted even by a busy machine: each took minutes otherwise. */
const TIME_MS = 30_000;

function expectInTime(text: string): void {
  const begun = performance.now();
  expect(typeof redact(text)).toBe('string');
  expect(performance.now() - begun).toBeLessThan(TIME_MS);
}

test.each([
  ['starts of keys', begin(), 200_000],
  ['base64', BASE64, 100_000],
  ['lines of base64 and ends of keys', `${BASE64}\n${end()}\n`, 50_000],
  ['words', 'a.b-c ', 500_000],
  ['slashes', '//', 500_000],
  ['quotes', 'token="', 200_000],
  ['braces', '{\n', 500_000],
  ['encoded URLs', '%3A%2F%2F', 200_000],
  ['hosts and ports', '//a:b', 200_000],
  ['schemes', 'a://', 200_000],
  ['users of curl', '-u=', 200_000],
  ['starts of tokens', 'eyJaaaaaaaa-', 100_000],
  ['blocks of YAML', 'token: |\n', 200_000],
])('a hostile text of %s is redacted in time that grows as its length', (_what, part, count) => {
  expectInTime(part.repeat(count));
});

test.each([
  ['base64 after an end of a key', `${end()} ${BASE64.repeat(20_000)}!\n${end()}`],
  ['items, and then names', `${'- '.repeat(200_000)}x ${'token=a '.repeat(100_000)}`],
  ['logins before an end', `${'//a:b'.repeat(200_000)}/ x@`],
])('a hostile text of %s is redacted in time that grows as its length', (_what, text) => {
  expectInTime(text);
});
