import { expect, test } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import { reason } from '../../src/api/reasons.ts';
import { addressOfNode, addressProblems, minionOfNode } from '../../src/model/node-address.ts';

const node = (annotations: Record<string, string>): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', annotations },
});

test.each([
  [{}, {}],
  [
    { 'stowage.dev/address': '192.0.2.7', 'stowage.dev/port': '2222' },
    { host: '192.0.2.7', port: 2222 },
  ],
  [{ 'stowage.dev/address': 'n1.example.com' }, { host: 'n1.example.com' }],
  [{ 'stowage.dev/address': '2001:db8::7' }, { host: '2001:db8::7' }],
  // A kubelet can write its own Node: values must not become options or commands of ssh.
  [{ 'stowage.dev/address': '-oProxyCommand=id' }, {}],
  [{ 'stowage.dev/address': 'a b' }, {}],
  [{ 'stowage.dev/address': 'user@host' }, {}],
  [{ 'stowage.dev/port': '-1' }, {}],
  [{ 'stowage.dev/port': '22;id' }, {}],
  [{ 'stowage.dev/port': '65536' }, {}],
  [{ 'stowage.dev/port': '0x16' }, {}],
  [{ 'stowage.dev/port': '1e3' }, {}],
  [{ 'stowage.dev/port': ' 22' }, {}],
  [{ 'stowage.dev/port': '' }, {}],
  [{ 'stowage.dev/address': '10.0.0.1%eth0' }, {}],
])('annotations %j give the address %j', (annotations, expected) => {
  const given = node(annotations as Record<string, string>);
  expect(addressOfNode(given)).toEqual(expected);
  // Each ignored annotation is reported.
  const left = Object.keys(annotations).length - Object.keys(expected).length;
  expect(addressProblems(given)).toHaveLength(left);
});

test('a node without a Node object has no configured address', () => {
  expect(addressOfNode(undefined)).toEqual({});
});

test('problems name the value found, the valid values and the fallback', () => {
  expect(
    addressProblems(node({ 'stowage.dev/address': 'a\u001b@b', 'stowage.dev/port': '0x16' })),
  ).toEqual([
    {
      annotation: 'stowage.dev/address',
      message:
        'the annotation stowage.dev/address of its Node is "a\\u001b@b", but must be a host name or an IP address: ssh connects to the name of the node instead',
      detail: reason('AddressInvalid', {
        annotation: 'stowage.dev/address',
        found: '"a\\u001b@b"',
      }),
    },
    {
      annotation: 'stowage.dev/port',
      message:
        'the annotation stowage.dev/port of its Node is "0x16", but must be a decimal number from 1 to 65535: ssh connects to the port of its configuration instead',
      detail: reason('PortInvalid', { annotation: 'stowage.dev/port', found: '"0x16"' }),
    },
  ]);
  expect(addressProblems(node({ 'stowage.dev/salt-minion': '*' }))).toEqual([
    {
      annotation: 'stowage.dev/salt-minion',
      message:
        'the annotation stowage.dev/salt-minion of its Node is "*", but must be the ID of a Salt minion: Salt uses the name of the node instead',
      detail: reason('MinionIdInvalid', { annotation: 'stowage.dev/salt-minion', found: '"*"' }),
    },
  ]);
  expect(addressProblems(undefined)).toEqual([]);
});

test.each<[string | undefined, string | undefined]>([
  ['storage-1.example.com', 'storage-1.example.com'],
  ['n_1', 'n_1'],
  [undefined, undefined],
  // A kubelet can write its own Node: a pattern or a list would address all matching minions.
  ['*', undefined],
  ['n*', undefined],
  ['n[12]', undefined],
  ['n1,n2', undefined],
  ['n1 or n2', undefined],
  ['-L', undefined],
  ['', undefined],
])('the minion ID %j of a Node is read as %j', (id, expected) => {
  expect(minionOfNode(node(id === undefined ? {} : { 'stowage.dev/salt-minion': id }))).toBe(
    expected,
  );
});
