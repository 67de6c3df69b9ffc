import { describe, expect, test } from '@jest/globals';
import { applyMutation } from './apply.ts';
import { AnchorError, extentOf } from './extent.ts';
import type { Mutation } from './mutation.ts';

const TYPESCRIPT = `/** Größe: a character of several bytes before what is looked for. */
const SCRIPT = \`
lock() {
  flock 8
}
\`;
function outer() {
  const inner = (value: number) => value + 1;
  const local = 'no function';
  return { run: () => inner(1), async stop() {} };
}
class Box {
  open() { return 1; }
}
class Chest {
  open() { return 2; }
}
`;

const PYTHON = `LIMIT = [
    1,
]
class Rules:
    def check(
        self,
    ):
        if True:

            return 1

    def other(self):
        return 2
def other():
    return 3
`;

describe('extentOf', () => {
  test.each<[string, string, string, string]>([
    ['a function', 'a.ts', 'outer', 'function outer() {…}'],
    ['an arrow function', 'a.ts', 'inner', 'inner = (value: number) => value + 1'],
    ['a method of an object', 'a.ts', 'outer.run', 'run: () => inner(1)'],
    ['an asynchronous method', 'a.ts', 'stop', 'async stop() {}'],
    ['a method of one of two classes', 'a.ts', 'Chest.open', 'open() { return 2; }'],
    ['a shell function in a script', 'a.ts', 'SCRIPT.lock()', 'lock() {\n  flock 8\n}'],
    ['a method in Python', 'a.py', 'Rules.check', '    def check(…            return 1\n\n'],
    ['a function in Python', 'a.py', 'Rules.other', '    def other(self):\n        return 2\n'],
    ['a constant in Python', 'a.py', 'LIMIT', 'LIMIT = [\n    1,\n]\n'],
  ])('finds %s', (_, file, path, expected) => {
    const text = file.endsWith('.py') ? PYTHON : TYPESCRIPT;
    const { start, end } = extentOf(file, text, path);
    const [first = '', last = first] = expected.split('…');
    expect(text.slice(start, end).startsWith(first)).toBe(true);
    expect(text.slice(start, end).endsWith(last)).toBe(true);
  });

  test.each([
    ['missing', 'a.ts', 'nowhere', 'a.ts has no function nowhere'],
    ['no function', 'a.ts', 'local', 'a.ts has no function local'],
    ['ambiguous', 'a.ts', 'open', 'a.ts has 2 functions open'],
    ['ambiguous in Python', 'a.py', 'other', 'a.py has 2 functions other'],
  ])('refuses a name that is %s', (_, file, path, message) => {
    const text = file.endsWith('.py') ? PYTHON : TYPESCRIPT;
    expect(() => extentOf(file, text, path)).toThrow(new AnchorError(message));
  });
});

describe('applyMutation', () => {
  const mutation: Mutation = {
    id: 'one',
    invariant: 1,
    breaks: 'Nothing.',
    file: 'a.ts',
    function: 'Chest.open',
    find: 'return',
    replace: 'throw',
  };

  test('replaces the text in the named function alone', () => {
    expect(applyMutation(mutation, TYPESCRIPT)).toBe(TYPESCRIPT.replace('return 2', 'throw 2'));
  });

  test.each<[string, Partial<Mutation>, string]>([
    ['missing', { find: 'await' }, 'the text to replace is missing: await'],
    ['ambiguous', { find: 'n' }, 'the text to replace is ambiguous: n'],
    ['broken by the change', { replace: '}' }, 'the outcome is not TypeScript'],
  ])('refuses a text that is %s', (_, change, message) => {
    const apply = () => applyMutation({ ...mutation, ...change }, TYPESCRIPT);
    expect(apply).toThrow(AnchorError);
    expect(apply).toThrow(`a.ts, function Chest.open: ${message}`);
  });
});
