import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { authorizationReads, secretReads } from '../../src/volumes/read-secret.ts';

/** An API server with one Secret, team/login, and what it was asked for. */
function server(data: Record<string, string>, status?: number) {
  const asked: string[] = [];
  const get = async (_: unknown, name: string, { namespace }: { namespace: string }) => {
    asked.push(`${namespace}/${name}`);
    if (status !== undefined)
      throw new ApiError({ apiVersion: 'v1', kind: 'Status' } as never, status, 'GET');
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
    return { data: Object.fromEntries(encoded) };
  };
  return { asked, client: { get } as unknown as Pick<KubeClient, 'get'> };
}

describe('secretReads', () => {
  test('reads a key each time', async () => {
    const { client, asked } = server({ token: 'abc\n' });
    const read = secretReads(client);
    expect(await read('team', 'login', 'token')).toEqual({ value: 'abc\n' });
    expect(await read('team', 'login', 'token')).toEqual({ value: 'abc\n' });
    expect(asked).toEqual(['team/login', 'team/login']);
  });

  test.each<[string, Parameters<typeof server>, string, string]>([
    ['a key that is not there', [{ token: 'a' }], 'other', 'which has no such key'],
    ['a key that every object inherits', [{ token: 'a' }], 'toString', 'which has no such key'],
    ['one that does not exist', [{}, 404], 'token', 'which does not exist'],
    ['one that may not be read', [{}, 403], 'token', 'which the daemon may not read'],
  ])('reports %s', async (_, [data, status], key, problem) => {
    const found = await secretReads(server(data, status).client)('team', 'login', key);
    expect(found).toEqual({ problem: expect.stringContaining(problem) });
  });

  test.each(['../../nodes/n1', 'a/b', 'A', ''])('asks for none of the name %j', async (name) => {
    const { client, asked } = server({ token: 'a' });
    const found = await secretReads(client)('team', name, 'token');
    expect(found).toEqual({ problem: expect.stringContaining('which can be no name of one') });
    expect(asked).toEqual([]);
  });
});

describe('authorizationReads', () => {
  const read = (token: string) =>
    authorizationReads(server({ token }).client)('team', { name: 'login', key: 'token' });

  test('returns one line without its end', async () => {
    expect(await read('Bearer abc\n')).toEqual({ value: 'Bearer abc' });
  });

  test.each(['a\nX-Admin: yes', 'a\r\nb', '', 'é'])('takes %j for no header', async (token) => {
    expect(await read(token)).toEqual({ problem: expect.stringContaining('which holds no single line') });
  });
});
