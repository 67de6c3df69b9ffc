import { expect, test } from '@jest/globals';
import type { KubeNode } from '../../src/api/core.ts';
import { nodeStateKey } from '../../src/manager/predicates.ts';
import { nodeNamed } from '../support/cluster-objects.ts';

test.each<[string, Record<string, string> | undefined, boolean]>([
  ['a hostname label that it gets', { 'kubernetes.io/hostname': 'n1' }, true],
  ['another label', { disk: 'ssd' }, false],
])('the state of a Node changes with %s', (_, labels, changes) => {
  const node = nodeNamed('n1');
  const labeled: KubeNode = { ...node, metadata: { ...node.metadata, ...(labels && { labels }) } };
  expect(nodeStateKey(labeled) !== nodeStateKey(node)).toBe(changes);
});
