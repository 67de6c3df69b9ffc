import { describe, expect, test } from '@jest/globals';
import { nodes } from '../../../src/cli/lib/nodes/node-pattern.ts';

const names = (...texts: string[]) =>
  texts.reduce<ReturnType<typeof nodes> | undefined>(
    (before, text) => nodes(text, before),
    undefined,
  );

describe('--node', () => {
  test.each<[string[], string[], boolean]>([
    [['n1'], ['n1'], false],
    [['n1', 'n1'], ['n1'], false],
    [['n1', 'n2'], ['n1', 'n2'], true],
    [['n{1..4}'], ['n1', 'n2', 'n3', 'n4'], true],
    [['n{3..3}'], ['n3'], true],
    [['n{8..10}'], ['n8', 'n9', 'n10'], true],
    [['n{08..10}'], ['n08', 'n09', 'n10'], true],
    [['n{1..03}'], ['n01', 'n02', 'n03'], true],
    [['n{0..1}'], ['n0', 'n1'], true],
    [['n{a,bc}.example'], ['na.example', 'nbc.example'], true],
    [['r{1..2}-n{a,b}'], ['r1-na', 'r1-nb', 'r2-na', 'r2-nb'], true],
    [['n{1..2}', 'n{2..3}'], ['n1', 'n2', 'n3'], true],
    [['n1,n2'], ['n1', 'n2'], true],
    [['n{1..2},m{a,b},x'], ['n1', 'n2', 'ma', 'mb', 'x'], true],
    [['n1,n1'], ['n1'], false],
    [['n{1..1}', 'n1'], ['n1'], true],
  ])('expands %j', (texts, wanted, many) => {
    expect(names(...texts)).toEqual({ names: wanted, many });
  });

  test.each([
    ['', 'A name has'],
    ['N1', 'A name has'],
    ['n{1..4', 'A name has'],
    ['n1..4}', 'A name has'],
    ['n{{1..2}}', 'A name has'],
    ['n{a,}', 'A name has', 'n{a,-}'],
    ['n1,', 'A name has'],
    [',n{1..2}', 'A name has'],
    ['n{}', 'Write a range'],
    ['n{1}', 'Write a range'],
    ['n{a..c}', 'Write a range'],
    ['n{-1..2}', 'Write a range'],
    ['n{4..1}', 'counts down'],
    ['n{1..1001}', 'more than 1000'],
    ['n{0..999999999}', 'more than 1000'],
    ['n{1..100}{1..100}{1..100}{1..100}', 'more than 1000'],
    ['$(reboot){1..2}', 'A name has'],
  ])('refuses %j', (text, message, other = text) => {
    expect(() => nodes(other)).toThrow(message);
  });

  test('refuses more than 1000 nodes in total', () => {
    expect(names('n{1..1000}', 'n{1..1000}')?.names).toHaveLength(1000);
    expect(() => names('n{1..1000}', 'm1')).toThrow('more than 1000');
  });
});
