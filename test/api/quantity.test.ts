import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { StowageError } from '../../src/api/errors.ts';
import { formatBytes, parseQuantity } from '../../src/api/quantity.ts';
import { TEST_SEED } from '../support/test-seed.ts';

describe('parseQuantity', () => {
  test.each<[string | number, bigint]>([
    [0, 0n],
    ['0', 0n],
    [1024, 1024n],
    [1e21, 10n ** 21n],
    ['42', 42n],
    ['+42', 42n],
    ['-42', -42n],
    ['007', 7n],
    ['.5Gi', 2n ** 29n],
    ['5.', 5n],
    ['5.G', 5_000_000_000n],
    ['1.5Gi', 1_610_612_736n],
    ['1Ki', 2n ** 10n],
    ['1Mi', 2n ** 20n],
    ['1Gi', 2n ** 30n],
    ['1Ti', 2n ** 40n],
    ['1Pi', 2n ** 50n],
    ['1Ei', 2n ** 60n],
    ['1k', 1000n],
    ['1M', 10n ** 6n],
    ['1G', 10n ** 9n],
    ['1T', 10n ** 12n],
    ['1P', 10n ** 15n],
    ['1E', 10n ** 18n],
    ['1E3', 1000n],
    ['1e3', 1000n],
    ['1E+3', 1000n],
    ['1.25e2', 125n],
    ['5E-1', 1n],
    ['2000m', 2n],
    ['1500m', 2n],
    ['3000000u', 3n],
    ['1n', 1n],
    ['-1500m', -2n],
    ['0.0000000000001', 1n],
    ['8Ei', 2n ** 63n],
  ])('%p is %p bytes', (text, bytes) => {
    expect(parseQuantity(text)).toBe(bytes);
  });

  test.each([
    '',
    ' ',
    '1 ',
    ' 1',
    '1 Gi',
    '1\n',
    '1Gi\n',
    '.',
    'Gi',
    '-',
    '--1',
    '1.2.3',
    '1,5Gi',
    '1ki',
    '1K',
    '1gi',
    '1GB',
    '1i',
    '1e',
    '1e1.5',
    '1Ee3',
    '1e3Gi',
    '0x10',
    '१',
    'NaN',
    'constructor',
    '1constructor',
    '1e999999999999',
    '9'.repeat(1000),
  ])('%p is refused', (text) => {
    expect(() => parseQuantity(text)).toThrow(StowageError);
  });

  test('the error names the text', () => {
    expect(() => parseQuantity('10GB')).toThrow('"10GB" is not a quantity');
  });
});

describe('formatBytes', () => {
  test.each<[bigint, string]>([
    [0n, '0'],
    [1n, '1'],
    [1023n, '1023'],
    [1024n, '1Ki'],
    [1536n, '1536'],
    [3n * 2n ** 29n, '1536Mi'],
    [2n ** 30n, '1Gi'],
    [1_072_676_352n, '1072676352'],
    [1023n << 20n, '1023Mi'],
    [2n ** 63n, '8Ei'],
  ])('formats %p bytes as %p', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  test(`writes text that parseQuantity reads as the same bytes (seed ${TEST_SEED})`, () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 70n }), fc.nat(60), (digits, shift) => {
        const bytes = digits << BigInt(shift);
        expect(parseQuantity(formatBytes(bytes))).toBe(bytes);
      }),
      { seed: TEST_SEED },
    );
  });
});
