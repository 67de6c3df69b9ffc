import { describe, expect, test } from '@jest/globals';
import { decodeProtobuf } from '../../src/sandbox/protobuf/decode.ts';

/** Returns a field of wire type 2, shorter than 128 bytes. */
const field = (number: number, ...parts: (Buffer | string)[]) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  return Buffer.concat([Buffer.from([(number << 3) | 2, body.length]), body]);
};
const varint = (number: number, ...bytes: number[]) => Buffer.from([number << 3, ...bytes]);
const envelope = (apiVersion: string, kind: string, ...raw: Buffer[]) =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    field(1, field(1, apiVersion), field(2, kind)),
    field(2, ...raw),
  ]);

test('decodes a Secret', () =>
  expect(
    decodeProtobuf(
      envelope(
        'v1',
        'Secret',
        field(1, field(1, 's'), field(2, ''), field(8), field(11, field(1, 'k'), field(2, 'v'))),
        field(2, field(1, 'a'), field(2, Buffer.from([0xff]))),
        field(3, 'Opaque'),
        varint(5, 0),
      ),
    ),
  ).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', labels: { k: 'v' } },
    data: { a: '/w==' },
    type: 'Opaque',
    immutable: false,
  }));

test('decodes DeleteOptions', () =>
  expect(
    decodeProtobuf(
      envelope(
        'v1',
        'DeleteOptions',
        varint(1, 0),
        field(2, field(1, 'u')),
        field(4, 'Foreground'),
      ),
    ),
  ).toMatchObject({
    gracePeriodSeconds: 0,
    preconditions: { uid: 'u' },
    propagationPolicy: 'Foreground',
  }));

test('decodes a Role for the core API group', () =>
  expect(
    decodeProtobuf(
      envelope(
        'rbac.authorization.k8s.io/v1',
        'Role',
        field(1, field(1, 'r')),
        field(2, field(1, 'get'), field(1, 'list'), field(2, ''), field(3, 'pods')),
      ),
    ),
  ).toMatchObject({ rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }] }));

test('decodes signed 64-bit integers', () => {
  const replicas = (...bytes: number[]) =>
    decodeProtobuf(envelope('apps/v1', 'Deployment', field(2, varint(1, ...bytes)))).spec;
  expect(replicas(0xac, 0x02)).toEqual({ replicas: 300 });
  expect(replicas(0)).toEqual({ replicas: 0 });
  expect(replicas(...Array(9).fill(0xff), 1)).toEqual({ replicas: -1 });
});

describe('an invalid body', () => {
  test.each<[string, Buffer]>([
    ['no envelope', Buffer.from('{}')],
    ['an unknown kind', envelope('v1', 'Pod', field(1, field(1, 'p')))],
    ['no kind', Buffer.from('k8s\0')],
    ['a field that would be lost', envelope('v1', 'ServiceAccount', field(2, field(3, 'token')))],
    ['a string instead of a number', envelope('apps/v1', 'Deployment', field(2, field(1, 'many')))],
    ['a length beyond the end', Buffer.concat([envelope('v1', 'Role'), Buffer.from([0x12, 0x7f])])],
    ['an unterminated number', envelope('v1', 'ConfigMap', Buffer.from([0x20, 0xff]))],
    [
      'numbers of fixed width',
      envelope('v1', 'ConfigMap', Buffer.from([0x21, 1, 2, 3, 4, 5, 6, 7, 8])),
    ],
  ])('is refused: %s', (_, body) =>
    expect(() => decodeProtobuf(body)).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ code: 400 }) }),
    ),
  );
});
