import { expect, test } from '@jest/globals';
import { attachedNodes, withoutAttachedNode } from '../../src/model/attached-nodes.ts';

test.each<[string, string | undefined, string[]]>([
  ['no record', undefined, []],
  ['an empty list', '[]', []],
  ['a list', '["n1","n2"]', ['n1', 'n2']],
  ['a list with other things', '["n1",2,null,"No Node"]', ['n1']],
  ['a list that was cut off', '["n1","n2', ['n1']],
  ['an object', '{"n1":true}', ['n1']],
  ['no list', 'n1', []],
])('attachedNodes: %s', (_, annotation, nodes) => {
  expect(attachedNodes(annotation)).toEqual(nodes);
});

test.each<[string, string | undefined, string | undefined]>([
  ['the only node', '["n1"]', '[]'],
  ['one of two', '["n1","n2"]', '["n2"]'],
  ['one that is not recorded', '["n2"]', undefined],
  ['one of a list that was cut off, as the daemon reads that', '["n1","n2","n', '["n2"]'],
  ['one without a record', undefined, undefined],
])('withoutAttachedNode: %s', (_, annotation, left) => {
  expect(withoutAttachedNode(annotation, 'n1')).toBe(left);
});
