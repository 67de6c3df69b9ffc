import { describe, expect, test } from '@jest/globals';
import {
  PERSISTENT_VOLUME_CLAIMS,
  REFERENCE_GRANTS,
  VOLUMES,
} from '../../../../src/api/resources.ts';
import { effectOf, expectingWrite, type Write } from '../../../../src/cli/ui/actions/writes.ts';
import type { Connection } from '../../../../src/kube/connect.ts';
import type { KubeClient } from '../../../../src/kube/types.ts';
import { refusal } from '../../../support/refusals.ts';
import { volumeNamed } from '../../../support/volumes.ts';

const DELETION: Write = {
  ...{ verb: 'delete', resource: VOLUMES, namespace: undefined, name: 'a', body: undefined },
  options: { uid: 'u' },
};
const PATCH: Write = {
  ...{ verb: 'change', resource: REFERENCE_GRANTS, namespace: 'db', name: 'a' },
  body: { metadata: { resourceVersion: '7' }, spec: { from: ['x'] } },
  options: {},
};

const status = (content: object, uid = 'u'): Write => ({
  ...{ verb: 'change', resource: VOLUMES, namespace: undefined, name: 'a' },
  body: { metadata: { uid }, status: content },
  options: { subresource: 'status' },
});

describe('a write has another effect than one', () => {
  test.each<[string, Write, Write]>([
    ['of another verb', DELETION, { ...DELETION, verb: 'change' }],
    ['of another kind', DELETION, { ...DELETION, resource: PERSISTENT_VOLUME_CLAIMS }],
    ['of another name', DELETION, { ...DELETION, name: 'b' }],
    ['in another namespace', PATCH, { ...PATCH, namespace: 'web' }],
    ['of another object of the name', DELETION, { ...DELETION, options: { uid: 'v' } }],
    [
      'of another version, which a deletion names',
      { ...DELETION, options: { uid: 'u', resourceVersion: '7' } },
      { ...DELETION, options: { uid: 'u', resourceVersion: '8' } },
    ],
    ['of a status of another object', status({}, 'u'), status({}, 'v')],
    ['of another status', status({ attachments: ['n1'] }), status({ attachments: ['n1', 'n2'] })],
    ['of another content', PATCH, { ...PATCH, body: { spec: { from: ['x', 'y'] } } }],
  ])('%s', (_what, one, other) => {
    expect(effectOf(one)).not.toBe(effectOf(other));
  });
});

describe('a write has the same effect as one', () => {
  const at = (time: string): Write => ({ ...PATCH, body: { annotations: { retry: time } } });
  test.each<[string, Write, Write]>([
    [
      'of another version',
      PATCH,
      { ...PATCH, body: { metadata: { resourceVersion: '8' }, spec: { from: ['x'] } } },
    ],
    ['at another time', at('2030-01-01T00:00:00Z'), at('2030-01-01T00:00:01.5Z')],
    ['with another observation', status({ message: 'one' }), status({ message: 'two' })],
  ])('%s', (_what, one, other) => {
    expect(effectOf(one)).toBe(effectOf(other));
  });
});

/** Returns a client that must begin with a write of this effect, and what it sends. */
function expecting(effect: string | undefined, failures: Error[] = []) {
  const sent: string[] = [];
  const send = (verb: string) => async (_resource: object, name: unknown) => {
    sent.push(`${verb} ${typeof name === 'string' ? name : ''}`.trim());
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  };
  const client = {
    ...{ get: send('get'), list: send('list'), create: send('create') },
    ...{ patch: send('patch'), delete: send('delete'), watch: send('watch') },
  } as unknown as KubeClient;
  const connection = { client } as unknown as Connection;
  return { sent, client: expectingWrite(connection, effect).client };
}

const OTHERWISE = {
  code: 'conflict',
  message: expect.stringContaining('not what the plan showed'),
};

test('a command begins with the write of its plan, and goes on', async () => {
  const { sent, client } = expecting(effectOf(DELETION));
  await client.get(VOLUMES, 'a');
  await client.create(VOLUMES, volumeNamed('a'), { dryRun: true });
  await client.delete(VOLUMES, 'a', { uid: 'u' });
  await client.patch(VOLUMES, 'b', {});
  expect(sent).toEqual(['get a', 'create', 'delete a', 'patch b']);
});

test.each([
  ['another write', effectOf(PATCH)],
  ['a write, although the plan had none', undefined],
])('a command does not begin with %s', async (_what, effect) => {
  const { sent, client } = expecting(effect);
  await expect(client.delete(VOLUMES, 'a', { uid: 'u' })).rejects.toMatchObject(OTHERWISE);
  expect(sent).toEqual([]);
});

test('after a refused write, another one is not the planned one', async () => {
  const { sent, client } = expecting(effectOf(DELETION), [refusal(409)]);
  await expect(client.delete(VOLUMES, 'a', { uid: 'u' })).rejects.toThrow('no');
  await expect(client.patch(VOLUMES, 'a', {})).rejects.toMatchObject(OTHERWISE);
  await client.delete(VOLUMES, 'a', { uid: 'u' });
  expect(sent).toEqual(['delete a', 'delete a']);
});
