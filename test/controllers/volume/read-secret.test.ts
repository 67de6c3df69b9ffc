import { describe, expect, test } from '@jest/globals';
import { authorizationReads, secretReads } from '../../../src/controllers/volume/read-secret.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import type { KubeClient } from '../../../src/kube/types.ts';

const URL_OF_A = 'https://a.example.com/x';

/** Creates an API server with one Secret, team/login, that records its requests. */
function server(
  data: Record<string, string>,
  status?: number,
  hosts = 'a.example.com, b.example.com:8443, http://c.example.com',
) {
  const asked: string[] = [];
  const get = async (_: unknown, name: string, { namespace }: { namespace: string }) => {
    asked.push(`${namespace}/${name}`);
    if (status !== undefined)
      throw new ApiError({ apiVersion: 'v1', kind: 'Status' } as never, status, 'GET');
    const encoded = Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(value).toString('base64'),
    ]);
    const annotations = hosts === '' ? {} : { 'stowage.dev/authorization-hosts': hosts };
    return { metadata: { annotations }, data: Object.fromEntries(encoded) };
  };
  return { asked, client: { get } as unknown as Pick<KubeClient, 'get'> };
}

describe('secretReads', () => {
  test('reads a key each time', async () => {
    const { client, asked } = server({ token: 'abc\n' });
    const read = secretReads(client);
    expect(await read('team', 'login', 'token', URL_OF_A)).toEqual({ value: 'abc\n' });
    expect(await read('team', 'login', 'token', URL_OF_A)).toEqual({ value: 'abc\n' });
    expect(asked).toEqual(['team/login', 'team/login']);
  });

  test.each<[string, Parameters<typeof server>, string, string]>([
    ['a missing key', [{ token: 'a' }], 'other', 'which does not have that key'],
    [
      'a key that every object inherits',
      [{ token: 'a' }],
      'toString',
      'which does not have that key',
    ],
    ['a missing Secret', [{}, 404], 'token', 'which does not exist'],
    ['a Secret that may not be read', [{}, 403], 'token', 'which the daemon may not read'],
  ])('reports %s', async (_, [data, status], key, problem) => {
    const found = await secretReads(server(data, status).client)('team', 'login', key, URL_OF_A);
    expect(found).toEqual({ problem: expect.stringContaining(problem) });
  });

  test.each([
    ['https://a.example.com/x', true],
    ['https://A.Example.com:443/x', true],
    ['https://b.example.com:8443/', true],
    ['http://c.example.com/', true],
    ['http://c.example.com:80/', true],
    ['https://c.example.com/', false],
    ['http://a.example.com/', false],
    ['http://b.example.com:8443/', false],
    ['https://b.example.com/', false],
    ['https://a.example.com:8443/', false],
    ['https://example.com/', false],
    ['https://a.example.com@evil.example.org/', false],
    ['https://a.example.com.evil.example.org/', false],
    ['', false],
    ['/srv/images/a.raw', false],
  ])('may send the key to %j: %s', async (url, allowed) => {
    const { client } = server({ token: 'hunter2' });
    const found = await secretReads(client)('team', 'login', 'token', url);
    if (allowed) expect(found).toEqual({ value: 'hunter2' });
    else expect(found).toEqual({ problem: expect.stringContaining('which may not be sent to ') });
  });

  test('refuses a Secret without the annotation, and reports how to add it', async () => {
    const { client } = server({ token: 'hunter2' }, undefined, '');
    expect(await secretReads(client)('team', 'login', 'token', URL_OF_A)).toEqual({
      problem:
        'key token of Secret team/login, which may not be sent to a.example.com. As owner of the Secret, allow it: kubectl annotate secret -n team login stowage.dev/authorization-hosts=a.example.com',
    });
  });

  test.each(['../../nodes/n1', 'a/b', 'A', ''])('reads no Secret named %j', async (name) => {
    const { client, asked } = server({ token: 'a' });
    const found = await secretReads(client)('team', name, 'token', URL_OF_A);
    expect(found).toEqual({ problem: expect.stringContaining('which is not a valid name') });
    expect(asked).toEqual([]);
  });
});

describe('authorizationReads', () => {
  const read = (token: string) =>
    authorizationReads(server({ token }).client)('team', { name: 'login', key: 'token' }, URL_OF_A);

  test('returns a single line without its newline', async () => {
    expect(await read('Bearer abc\n')).toEqual({ value: 'Bearer abc' });
  });

  test.each(['a\nX-Admin: yes', 'a\r\nb', '', 'é'])('rejects %j as a header', async (token) => {
    expect(await read(token)).toEqual({
      problem: expect.stringContaining('which is not a single line'),
    });
  });
});
