import { globSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { commentLines } from '../support/documents/comments.ts';

const files = [
  ...globSync('{src,test,scripts,salt}/**/*.{ts,mjs,cjs,sh,py}'),
  ...globSync('bin/*'),
].sort();

/** Openings of sentences whose subject the reader has to guess. */
const RIDDLE = /^(?:What|Of|Where|One|That|Who|Those|Whoever|Whether|How|It|They)\b/;

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
