import { expect, test } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import { addressOfNode } from '../../src/volumes/node-address.ts';

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
  // A kubelet can write its own Node: nothing of it may become an option or a command of ssh.
  [{ 'stowage.dev/address': '-oProxyCommand=id' }, {}],
  [{ 'stowage.dev/address': 'a b' }, {}],
  [{ 'stowage.dev/address': 'user@host' }, {}],
  [{ 'stowage.dev/port': '-1' }, {}],
  [{ 'stowage.dev/port': '22;id' }, {}],
  [{ 'stowage.dev/port': '65536' }, {}],
])('%j leads to %j', (annotations, expected) => {
  expect(addressOfNode(node(annotations as Record<string, string>))).toEqual(expected);
});

test('a node without an object is reached under its name', () => {
  expect(addressOfNode(undefined)).toEqual({});
});
