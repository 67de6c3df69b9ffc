import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quote, quoteAll } from '../../src/nodes/quote.ts';
import { TEST_SEED } from '../support/test-seed.ts';

/** What a real sh hands to a program, byte for byte. */
function throughShell(argv: readonly string[]): string[] {
  const out = execFileSync('sh', [], { input: `printf '%s\\0' ${quoteAll(argv)}\n` });
  return out.toString('utf8').split('\0').slice(0, -1);
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

test('hostile strings come out of sh as they went in, each as one argument', () => {
  expect(throughShell(HOSTILE)).toEqual(HOSTILE);
});

test(`so does any list of strings (seed ${TEST_SEED})`, () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom("'", '"', '\\', '\n', '$', '`', '-', ' ', '(', 'é', '%', '!') }),
  );
  const argument = hostile.map((text) => text.replaceAll('\0', '').toWellFormed());
  fc.assert(
    fc.property(fc.array(argument, { minLength: 1, maxLength: 50 }), (argv) => {
      expect(throughShell(argv)).toEqual(argv);
    }),
    { numRuns: 200, seed: TEST_SEED },
  );
});

test('a string with NUL is refused', () => {
  expect(() => quote('a\0b')).toThrow(RangeError);
});
