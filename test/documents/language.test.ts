import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { commentLines } from '../support/documents/comments.ts';

const files = [
  ...globSync('{src,test,scripts,salt}/**/*.{ts,mjs,cjs,sh,py}'),
  ...globSync('bin/*'),
].sort();

/** Openings of sentences whose subject the reader has to guess. */
const RIDDLE = /^(?:What|Of|Where|One|That|Who|Those|Whoever|Whether|How|It|They)\b/;

/** Openings of titles that no describe can complete. */
const GUESSED = /^(?:what|of|where|one|that|who|those|whoever|they|it)\b/i;

/** Words that have a standard term. */
const PRIVATE =
  /\b(?:heed(?:s|ed)?|whoever|amiss|anew|in vain|let(?:s|ting)? go|giv(?:e|es|en|ing) up|for good)\b/i;

test('comments name their subject', () => {
  const riddles = files.flatMap((path) =>
    commentLines(path).flatMap(({ at, text, opens }) =>
      opens && RIDDLE.test(text) ? [`${at}: ${text}`] : [],
    ),
  );
  expect(riddles).toEqual([]);
});

test('comments use the terms of the field', () => {
  const found = files.flatMap((path) =>
    commentLines(path).flatMap(({ at, text }) => (PRIVATE.test(text) ? [`${at}: ${text}`] : [])),
  );
  expect(found).toEqual([]);
});

/** Title of a test or of a group of tests: the first argument, before a function. */
const TITLE = /(?<!until)\(\s*(['"`])((?:\\.|(?!\1).)+)\1,\s*(?:async\s*)?\(/gi;

test('titles of tests name their subject', () => {
  const riddles = files
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(TITLE)].flatMap(([, , title = '']) =>
        GUESSED.test(title) || PRIVATE.test(title) ? [`${path}: ${title}`] : [],
      ),
    );
  expect(riddles).toEqual([]);
});

/** Name of a Python test, whose words end with its parentheses. */
const PYTHON_TEST = /^ *def test_(\w+)\(/gm;

test('names of Python tests name their subject', () => {
  const riddles = files
    .filter((path) => path.endsWith('.py'))
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(PYTHON_TEST)].flatMap(([, name = '']) => {
        const title = name.replaceAll('_', ' ');
        return GUESSED.test(title) || PRIVATE.test(title) ? [`${path}: ${title}`] : [];
      }),
    );
  expect(riddles).toEqual([]);
});
