import { describe, expect, test } from '@jest/globals';
import {
  duration,
  durationOr,
  labels,
  objectName,
  objectNames,
  requestTimeout,
  wholeNumber,
} from '../../../src/cli/lib/parse.ts';

describe('duration', () => {
  test.each([
    ['1s', 1000],
    ['500ms', 500],
    ['1.5s', 1500],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['596h', 2_145_600_000],
  ])('%s is %d ms', (text, ms) => {
    expect(duration(text)).toBe(ms);
  });

  test.each([
    '',
    '5',
    '0s',
    '0.1ms',
    '-1s',
    '5 m',
    '5M',
    '1d',
    '597h',
    '1s,',
    's',
    '1..5s',
    '1s\n',
  ])('refuses %j', (text) => {
    expect(() => duration(text)).toThrow();
  });

  test('takes a word for no limit', () => {
    const parse = durationOr('never');
    expect(parse('never')).toBe(Number.POSITIVE_INFINITY);
    expect(parse('6m')).toBe(360_000);
    expect(() => parse('Never')).toThrow('Write a duration such as 30s, 5m or 1h30m, or never.');
    expect(() => parse('597h')).toThrow('It must be from 1ms to 596h.');
  });

  test('accepts a request timeout in plain seconds, as kubectl does', () => {
    expect(requestTimeout('30')).toBe(30_000);
    expect(requestTimeout('1m')).toBe(60_000);
    expect(requestTimeout('0')).toBe(2 ** 31 - 1);
    expect(() => requestTimeout('-1')).toThrow();
  });
});

describe('names', () => {
  test.each(['Data1', '', '..', 'a/b', 'a%2fb', '--all', 'a b', 'a\u001b[31m'])(
    '%j is refused',
    (name) => {
      expect(() => objectName(name)).toThrow('A name has lower case letters');
    },
  );

  test('are deduplicated', () => {
    expect(objectNames('b', objectNames('a', objectNames('b')))).toEqual(['b', 'a']);
  });
});

describe('labels', () => {
  test('are collected', () => {
    expect(labels('b=2,c=', labels('a=1,b=1'))).toEqual({ a: '1', b: '2', c: '' });
  });

  test.each(['a', '=1', 'a=1,', 'a=b=c', ''])('%j is refused', (text) => {
    expect(() => labels(text)).toThrow('key=value');
  });
});

test('wholeNumber keeps to its bounds', () => {
  const port = wholeNumber(0, 65_535);
  expect([port('0'), port('65535')]).toEqual([0, 65_535]);
  for (const text of ['65536', '-1', '1.5', '0x10', '', '1e3']) expect(() => port(text)).toThrow();
});
