import { expect, test } from '@jest/globals';
import { list } from '../../src/storage/json-rows.ts';

test.each<[string, string, object[]]>([
  ['nothing at all', ' \n', []],
  ['no rows', '{"rows": []}', []],
  ['another key', '{"others": [{"a": 1}]}', []],
  [
    'numbers as strings, and other values unchanged',
    '{"rows": [{"a": 0, "b": -1, "c": "2", "d": true, "e": null}, {"a": 9007199254740991}]}',
    [{ a: '0', b: '-1', c: '2', d: true, e: null }, { a: '9007199254740991' }],
  ],
  [
    'a number that a double cannot represent, in any row',
    '{"rows": [{"a": 1}, {"a": 18446744073709551615, "b": 2}]}',
    [{ a: '1' }, { a: '18446744073709551615', b: '2' }],
  ],
  ['a fractional number', '{"rows": [{"a": 1.50}]}', [{ a: '1.50' }]],
])('list parses %s', (_, text, rows) => {
  expect(list(text, 'rows')).toEqual(rows);
});

test.each(['{', '[', 'losetup: failed'])('list rejects %s', (text) => {
  expect(() => list(text, 'rows')).toThrow(SyntaxError);
});

test('list rejects numbers above 2^53 in long output, as parsing again takes a second', () => {
  const text = (zeros: number) => `{"rows":[{"a":9007199254740993,"b":[${'0,'.repeat(zeros)}0]}]}`;
  expect(list(text(10), 'rows')).toMatchObject([{ a: '9007199254740993' }]);
  expect(() => list(text(1 << 20), 'rows')).toThrow(SyntaxError);
});
