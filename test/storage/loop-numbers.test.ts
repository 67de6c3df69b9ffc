import { expect, test } from '@jest/globals';
import { createLoopNumbers } from '../../src/storage/loop-numbers.ts';

test('a loop number is reserved for one volume of a node until it is released', () => {
  const numbers = createLoopNumbers();
  numbers.promise('n1', 'a', 3);
  numbers.promise('n2', 'b', 3);
  expect(numbers.ofOthers('n1', 'a')).toEqual(new Set());
  expect(numbers.ofOthers('n1', 'c')).toEqual(new Set([3]));
  numbers.promise('n1', 'a', 4);
  expect(numbers.ofOthers('n1', 'c')).toEqual(new Set([4]));
  numbers.release('n1', 'a');
  expect(numbers.ofOthers('n1', 'c')).toEqual(new Set());
  expect(numbers.ofOthers('n2', 'c')).toEqual(new Set([3]));
});
