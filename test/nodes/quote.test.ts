import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quote, quoteAll } from '../../src/nodes/quote.ts';
import { TEST_SEED } from '../support/test-seed.ts';

/** Returns the arguments that a real sh passes to a program for each list, byte by byte. */
function throughShell(lists: readonly (readonly string[])[]): string[][] {
  const lines = lists.map((argv) => `printf '%s\\0' ${argv.length} ${quoteAll(argv)}\n`);
  const words = execFileSync('sh', [], { input: lines.join('') })
    .toString('utf8')
    .split('\0');
  return lists.map(() => words.splice(0, Number(words.shift())));
}

const HOSTILE = [
  '',
  ' ',
  '\n',
  'a\nb\n',
  "'",
  "''",
  "'\\''",
  '"$(id)"',
  '$HOME `id` $IFS',
  '\\',
  'ends with \\',
  '-n',
  '--',
  '-',
  '%s\\n',
  '* ? [a] ~ {a,b}',
  '; rm -rf / #',
  '\r\t\x1b[31m\x7f',
  'é ü 漢字 🧱 \u202e',
  '!!',
  'x'.repeat(10_000),
];

test('quoted hostile strings pass through sh unchanged, each as one argument', () => {
  expect(throughShell([HOSTILE])).toEqual([HOSTILE]);
});

test(`quoted lists of any strings pass through sh unchanged (seed ${TEST_SEED})`, () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({
      unit: fc.constantFrom("'", '"', '\\', '\n', '$', '`', '-', ' ', '(', 'é', '%', '!'),
    }),
  );
  const argument = hostile.map((text) => text.replaceAll('\0', '').toWellFormed());
  const lists = fc.array(fc.array(argument, { minLength: 1, maxLength: 50 }), {
    minLength: 20,
    maxLength: 20,
  });
  fc.assert(
    fc.property(lists, (each) => {
      expect(throughShell(each)).toEqual(each);
    }),
    { numRuns: 10, seed: TEST_SEED },
  );
});

test('a string with NUL is refused', () => {
  expect(() => quote('a\0b')).toThrow(RangeError);
});
