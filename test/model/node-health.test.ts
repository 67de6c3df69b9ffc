import { expect, test } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import { isOff } from '../../src/model/node-health.ts';

const taint = (key: string) => ({ key, value: 'nodeshutdown', effect: 'NoExecute' });
const OUT = 'node.kubernetes.io/out-of-service';

test.each<[string, string[], Record<string, string>, boolean]>([
  ['the taint, and NotReady', [OUT], { Ready: 'False' }, true],
  ['the taint, and Unknown', [OUT], { Ready: 'Unknown' }, true],
  ['the taint, and no condition at all', [OUT], {}, true],
  ['the taint among others', ['node.kubernetes.io/unreachable', OUT], { Ready: 'Unknown' }, true],
  ['the taint, but its kubelet is Ready', [OUT], { Ready: 'True' }, false],
  [
    'the taint, and another condition is True',
    [OUT],
    { MemoryPressure: 'True', Ready: 'Unknown' },
    true,
  ],
  ['no taint', [], { Ready: 'Unknown' }, false],
  ['another taint', ['node.kubernetes.io/unreachable'], { Ready: 'Unknown' }, false],
])('isOff: %s', (_, keys, conditions, expected) => {
  const node: KubeNode = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1' },
    ...(keys.length === 0 ? {} : { spec: { taints: keys.map(taint) } }),
    status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
  };
  expect(isOff(node)).toBe(expected);
});

test('a Node without a spec and status is not off', () => {
  expect(isOff({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })).toBe(false);
});
