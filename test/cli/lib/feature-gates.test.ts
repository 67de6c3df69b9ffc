import { expect, test } from '@jest/globals';
import { featureGates } from '../../../src/cli/lib/feature-gates.ts';

const parse = featureGates({ A: false, B: true });

test('featureGates collects gates, and the last value of each wins', () => {
  expect(parse('A=true')).toEqual({ A: true });
  expect(parse('B=false,A=true', parse('A=false'))).toEqual({ A: true, B: false });
});

test.each([
  ['C=true', '"C" is not a feature gate: known is A, B.'],
  ['', '"" is not a feature gate'],
  ['toString=true', '"toString" is not a feature gate'],
  ['A', 'Write A=true or A=false'],
  ['A=yes', 'Write A=true or A=false'],
  ['A=true=true', 'Write A=true or A=false'],
  ['A=true,', '"" is not a feature gate'],
])('featureGates refuses %j', (text, why) => {
  expect(() => parse(text)).toThrow(why);
});
