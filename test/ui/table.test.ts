import { describe, expect, test } from '@jest/globals';
import type { VolumeRow } from '../../src/ui/protocol.ts';
import { arranged, type Column, chosen, visiblePart, youngestFirst } from '../../src/ui/table.ts';

const row = (name: string, parts: Partial<VolumeRow> = {}): VolumeRow => ({
  ...{ name, node: 'n1', type: 'sparse file', size: '1Gi', bytes: 1, phase: 'Available' },
  ...{ ready: 'True', reason: 'Ready', claim: '', created: '2030-01-01T00:00:00Z' },
  ...{ paused: false, deleting: false, attachments: [], version: '1' },
  ...parts,
});

const ROWS = [
  row('b', { bytes: 10, phase: 'Failed', reason: 'NoSpace', created: '2030-01-03T00:00:00Z' }),
  row('c', { node: 'n2', bytes: 9, claim: 'db/Data-0', created: '2030-01-02T00:00:00Z' }),
  row('a', { bytes: 9, phase: 'Pending', ready: 'False', created: '2030-01-01T00:00:00Z' }),
];

const names = (text: string, phase = '', node = '', by: Column = 'name', descending = false) =>
  chosen(ROWS, { text, phase, node }, { by, descending })
    .map(({ name }) => name)
    .join('');

describe('rows', () => {
  test.each([
    ['', '', '', 'abc'],
    ['B', '', '', 'bc'],
    [' nospace ', '', '', 'b'],
    ['DB/data', '', '', 'c'],
    ['n2', '', '', 'c'],
    ['', 'Failed', '', 'b'],
    ['', '', 'n1', 'ab'],
    ['a', 'Pending', 'n1', 'a'],
    ['x', '', '', ''],
  ])('are filtered by %j, phase %j and node %j', (text, phase, node, found) => {
    expect(names(text, phase, node)).toBe(found);
  });

  test.each<[Column, string, string]>([
    ['name', 'abc', 'cba'],
    ['node', 'abc', 'cab'],
    ['size', 'acb', 'bac'],
    ['phase', 'cba', 'abc'],
    ['ready', 'abc', 'bca'],
    ['claim', 'abc', 'cab'],
    ['type', 'abc', 'abc'],
    // The youngest is the one with the smallest age.
    ['age', 'bca', 'acb'],
  ])('are sorted by %s', (by, ascending, descending) => {
    expect(names('', '', '', by)).toBe(ascending);
    expect(names('', '', '', by, true)).toBe(descending);
  });
});

describe('rows of any screen', () => {
  const rows = [
    { name: 'db/b', size: 2, use: ['web/x'] },
    { name: 'db/a', size: 2, use: [] },
    { name: 'db/c', size: 1, use: ['Web/y'] },
  ];
  const texts = ({ name, use }: (typeof rows)[number]) => [name, ...use];

  test.each([
    ['', false, 'c a b'],
    ['', true, 'a b c'],
    [' WEB/', false, 'c b'],
    ['db/a', true, 'a'],
    ['none', false, ''],
  ])('with %j, descending %j, are %j', (text, descending, found) => {
    const names = arranged(rows, text, texts, ({ size }) => size, descending);
    expect(names.map(({ name }) => name.slice(3)).join(' ')).toBe(found);
  });

  test('without a time come after all ages', () => {
    const times = ['2030-01-01T00:00:00Z', '', '2030-01-02T00:00:00Z'];
    expect(times.toSorted((a, b) => youngestFirst(a) - youngestFirst(b))).toEqual([
      '2030-01-02T00:00:00Z',
      '2030-01-01T00:00:00Z',
      '',
    ]);
  });
});

describe('the rows to draw', () => {
  test.each([
    // At the top, in the middle, at the end, beyond the end.
    [10_000, 0, 720, { from: 0, to: 32 }],
    [10_000, -200, 720, { from: 0, to: 27 }],
    [10_000, 36_000, 720, { from: 988, to: 1032 }],
    [10_000, 359_280, 720, { from: 9968, to: 10_000 }],
    [10, 100_000, 720, { from: 0, to: 10 }],
    [0, 0, 720, { from: 0, to: 0 }],
    // The table is below the visible part.
    [10_000, -5000, 720, { from: 0, to: 12 }],
  ])('among %d, scrolled by %d with %d px, are %j', (count, above, height, part) => {
    expect(visiblePart(count, 36, above, height, 12)).toEqual(part);
  });
});
