import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { age } from '../../../src/api/age.ts';
import { roundedSize } from '../../../src/api/rounded-size.ts';
import { asJson, asYaml } from '../../../src/cli/lib/output/data.ts';
import { printable } from '../../../src/cli/lib/output/printable.ts';
import { readableSize } from '../../../src/cli/lib/output/size.ts';
import { table } from '../../../src/cli/lib/output/table.ts';
import { expectPrintable } from '../../support/printable-text.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const [m, h, d] = [60, 3600, 86_400];

// Applicable cases of apimachinery's duration_test.go, and the limits of each range.
test.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [121, '2m1s'],
  [10 * m - 1, '9m59s'],
  [10 * m, '10m'],
  [3 * h - 1, '179m'],
  [3 * h, '3h'],
  [3 * h + 20 * m, '3h20m'],
  [8 * h - 1, '7h59m'],
  [8 * h, '8h'],
  [2 * d - 1, '47h'],
  [2 * d, '2d'],
  [2 * d + h, '2d1h'],
  [8 * d, '8d'],
  [2 * 365 * d - 1, '729d'],
  [2 * 365 * d, '2y'],
  [2 * 365 * d + d, '2y1d'],
  [8 * 365 * d, '8y'],
  [9 * 365 * d - 1, '8y'],
  [-5, '0s'],
])('an age of %d s is %s', (seconds, text) => {
  expect(age(new Date(NOW - seconds * 1000).toISOString(), NOW)).toBe(text);
});

test('age of an undefined time is undefined', () => {
  expect(age(undefined, NOW)).toBeUndefined();
});

test('a table is aligned as kubectl aligns it, and has no control characters', () => {
  const rows = [
    ['a', 'x\u001b[31m'],
    ['long-name', undefined],
    ['b', 'two\nlines'],
  ];
  expect(table(['NAME', 'VALUE'], rows)).toBe(
    [
      'NAME        VALUE',
      'a           x\ufffd[31m',
      'long-name   <none>',
      'b           two lines',
      '',
    ].join('\n'),
  );
});

test('a table can omit its headings', () => {
  expect(table(['NAME'], [['a']], { headings: false })).toBe('a\n');
});

describe('a table on a terminal', () => {
  const headings = ['NAME', 'PHASE', 'REASON'];
  const rows = [
    ['a-name-that-is-long', 'Available', 'a reason of many words'],
    ['b', 'Failed', undefined],
  ];
  const widest = (width: number) =>
    Math.max(
      ...table(headings, rows, { width })
        .split('\n')
        .map((line) => line.length),
    );

  test('is complete if the terminal is wide enough', () => {
    expect(table(headings, rows, { width: 56 })).toBe(table(headings, rows));
    expect(widest(56)).toBe(56);
  });

  test('shortens its widest cells, but no names, if the terminal is narrow', () => {
    expect(table(headings, rows, { width: 45 })).toBe(
      [
        'NAME                  PHASE       REASON',
        'a-name-that-is-long   Available   a reason o…',
        'b                     Failed      <none>',
        '',
      ].join('\n'),
    );
    for (let width = 37; width <= 56; width++) expect(widest(width)).toBeLessThanOrEqual(width);
  });

  test('shortens names and phases last, wherever they are', () => {
    const all = ['NAMESPACE', 'NAME', 'PHASE', 'READY', 'NODE', 'CLASS'];
    const row = ['prod', 'a-long-name', 'Available', 'Unknown', 'node-12', 'local'];
    const [, line = ''] = table(all, [row], { width: 61 }).split('\n');
    expect(line).toBe('prod        a-long-name   Available   Unknown   node…   local');
    expect(table(all, [row], { width: 60 })).toContain('a-long-na…   Available');
  });

  test('shortens no column below the width of its heading', () => {
    expect(widest(1)).toBe(19 + 3 + 5 + 3 + 6);
  });
});

test('a table aligns characters of double and zero width', () => {
  const rows = [
    ['音声ディスク', 'x'],
    ['e\u0301', 'x'],
    ['🗄️', 'x'],
  ];
  expect(table(['NAME', 'V'], rows)).toBe(
    ['NAME           V', '音声ディスク   x', 'e\u0301              x', '🗄️             x', ''].join(
      '\n',
    ),
  );
  expect(table(['N', 'VALUE'], [['a', '音声ディスク']], { width: 10 })).toBe(
    'N   VALUE\na   音声…\n',
  );
});

test('printable replaces control characters except line breaks and tabs', () => {
  expect(printable('a\u001b]0;x\u0007\u009b\r\n\tb\u007f')).toBe(
    'a\ufffd]0;x\ufffd\ufffd\ufffd\n\tb\ufffd',
  );
});

test.each([...'\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'])(
  'the direction control %j is replaced in text and escaped in data',
  (character) => {
    expect(printable(`a${character}b`)).toBe('a\ufffdb');
    const object = { [`k${character}`]: [`a${character}b`, `c\n${character}d`] };
    for (const text of [asJson(object), asYaml(object)]) expect(text).not.toContain(character);
    expect(JSON.parse(asJson(object))).toEqual(object);
    expect(parse(asYaml(object))).toEqual(object);
  },
);

/** Words that YAML 1.1, or Go's parser of it, does not read as strings. */
const OTHER_IN_1_1 = [
  'off',
  'on',
  'y',
  'N',
  'yes',
  'NO',
  'True',
  'null',
  '~',
  '1_000',
  '0b11',
  '0x_f',
  '017',
  '1:20',
  '1e1_0',
];
OTHER_IN_1_1.push(
  '0o1_7',
  '-1_0',
  '.5_',
  '2001-01-01',
  '2001-12-14t21:59:43.10-05:00',
  '<<',
  '.inf',
  '1e3',
  '0888',
);

test.each(OTHER_IN_1_1)('the text %s is quoted for readers of YAML 1.1 and 1.2', (value) => {
  const text = asYaml({ [value]: value });
  for (const version of ['1.1', '1.2'] as const)
    expect(parse(text, { version })).toEqual({ [value]: value });
  expect(text).toBe(`"${value}": "${value}"\n`);
});

test('JSON and YAML omit managedFields at any depth', () => {
  const object = { items: [{ metadata: { name: 'a', managedFields: [{}] } }] };
  expect(asJson(object)).toBe(
    `${JSON.stringify({ items: [{ metadata: { name: 'a' } }] }, null, 2)}\n`,
  );
  expect(asYaml(object)).toBe('items:\n  - metadata:\n      name: a\n');
});

test('JSON and YAML escape control characters without loss', () => {
  const object = {
    long: `${'word '.repeat(40)}\u0085${' word'.repeat(40)}`,
    a: 'plain\u009b2J',
    '\u0090key': ['\u001b]0;x\u0007', '\u007f', 'say "x"\\\u0085'],
    b: 'x\n\u0084\ny',
  };
  for (const [text, read] of [
    [asJson(object), (text: string) => JSON.parse(text)],
    [asYaml(object), (text: string) => parse(text)],
  ] as const) {
    expect(read(text)).toEqual(object);
    expectPrintable(text);
  }
});

test.each([
  [0, '0'],
  [1023, '1023'],
  [1024, '1Ki'],
  [1536, '1.5Ki'],
  [10 * 1024 ** 2 - 1, '9.9Mi'],
  [1024 ** 3 - 1, '1023Mi'],
  [12.7 * 1024 ** 3, '12Gi'],
  [5 * 1024 ** 6, '5Ei'],
  [2 ** 70, '1024Ei'],
])('%d bytes are about %s', (bytes, text) => {
  expect(roundedSize(bytes)).toBe(text);
});

test.each([
  ['66043392', '62Mi'],
  ['1Gi', '1Gi'],
  ['1500M', '1500M'],
])('the quantity %s is shown as %s', (quantity, text) => {
  expect(readableSize(quantity)).toBe(text);
});
