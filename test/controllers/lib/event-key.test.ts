import { expect, test } from '@jest/globals';
import { keyOf } from '../../../src/controllers/lib/event-key.ts';

const key = (code: string, parameters: Record<string, string>) => keyOf({ code, parameters });

test('a key does not depend on the order of parameters', () => {
  expect(key('ShellFailed', { node: 'n1', exit: '1' })).toBe(
    key('ShellFailed', { exit: '1', node: 'n1' }),
  );
});

test.each([
  ['with another text', { node: 'n1', exit: '1', said: 'x' }, true],
  ['with another exit code', { node: 'n1', exit: '2', said: 'y' }, false],
])('a key ignores only varying parameters: parameters %s', (_, other, same) => {
  const one = key('ShellFailed', { node: 'n1', exit: '1', said: 'y' });
  expect(key('ShellFailed', other) === one).toBe(same);
});
