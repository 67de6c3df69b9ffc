import { expect, test } from '@jest/globals';
import { attachedNodes, withoutAttachedNode } from '../../src/model/attached-nodes.ts';

test.each<[string, string | undefined, string[]]>([
  ['no record', undefined, []],
  ['an empty list', '[]', []],
  ['a list', '["n1","n2"]', ['n1', 'n2']],
  ['a list with invalid elements', '["n1",2,null,"No Node"]', ['n1']],
  ['a truncated list', '["n1","n2', ['n1']],
  ['an object', '{"n1":true}', ['n1']],
  ['no list', 'n1', []],
])('attachedNodes: %s', (_, annotation, nodes) => {
  expect(attachedNodes(annotation)).toEqual(nodes);
});

test.each<[string, string | undefined, string | undefined]>([
  ['the only node', '["n1"]', '[]'],
  ['one of two nodes', '["n1","n2"]', '["n2"]'],
  ['a node that is not recorded', '["n2"]', undefined],
  ['a node of a truncated list, as the daemon reads it', '["n1","n2","n', '["n2"]'],
  ['no record', undefined, undefined],
])('withoutAttachedNode: %s', (_, annotation, left) => {
  expect(withoutAttachedNode(annotation, 'n1')).toBe(left);
});
