import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { commentLines, commentSentences } from '../support/documents/comments.ts';
import { literalsOf } from '../support/documents/literals.ts';
import { COMMENT_OPENING, hasPrivateWord } from '../support/documents/words.ts';

const files = [
  ...globSync('{src,test,scripts,salt}/**/*.{ts,tsx,mjs,cjs,sh,py}'),
  ...globSync('{bin,deploy,completions}/*'),
].sort();

/** Openings of comments whose subject the reader has to guess. */
const OPENING = /^(?:Whether|How|It|They)\b/;

/** Openings of titles that no describe can complete. */
const GUESSED = /^(?:what|of|where|one|that|who|those|whoever|they|it)\b/i;

test('comments name their subject', () => {
  const riddles = files.flatMap((path) =>
    commentLines(path).flatMap(({ at, text, opens }) =>
      opens && OPENING.test(text) ? [`${at}: ${text}`] : [],
    ),
  );
  expect(riddles).toEqual([]);
});

test('sentences of comments name their subject', () => {
  const riddles = files.flatMap((path) =>
    commentSentences(path).flatMap(({ at, text }) =>
      COMMENT_OPENING.test(text) ? [`${at}: ${text}`] : [],
    ),
  );
  expect(riddles).toEqual([]);
});

test('comments use the terms of the field', () => {
  const found = files.flatMap((path) =>
    commentLines(path).flatMap(({ at, text }) => (hasPrivateWord(text) ? [`${at}: ${text}`] : [])),
  );
  expect(found).toEqual([]);
});

test('messages use the terms of the field', () => {
  const sources = globSync('src/**/*.{ts,tsx,sh}').sort();
  const found = sources.flatMap((path) =>
    literalsOf(path).flatMap(({ at, text }) => (hasPrivateWord(text) ? [`${at}: ${text}`] : [])),
  );
  expect(found).toEqual([]);
});

test('manuals, CRDs, completions and deployment files use the terms of the field', () => {
  const paths = [...globSync('{man,deploy,completions}/*'), ...globSync('src/api/crds/*.yaml')];
  const found = paths.sort().flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) => (hasPrivateWord(line) ? [`${path}:${index + 1}: ${line}`] : [])),
  );
  expect(found).toEqual([]);
});

const MOST_COLUMNS = 100;

/** Line of a comment. */
const COMMENT = /^\s*(?:#(?!!)|\/\/|\/?\*+) /;

test(`comments wrap at ${MOST_COLUMNS} columns`, () => {
  const paths = [...files, ...globSync('{src,test}/**/*.{yaml,go}'), ...globSync('*.js')];
  const wide = paths.sort().flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        COMMENT.test(line) && [...line].length > MOST_COLUMNS ? [`${path}:${index + 1}`] : [],
      ),
  );
  expect(wide).toEqual([]);
});

/** Title of a test or of a group of tests: the first argument, before a function. */
const TITLE = /(?<!until)\(\s*(['"`])((?:\\.|(?!\1).)+)\1,\s*(?:async\s*)?\(/gi;

test('titles of tests name their subject', () => {
  const riddles = files
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(TITLE)].flatMap(([, , title = '']) =>
        GUESSED.test(title) || hasPrivateWord(title) ? [`${path}: ${title}`] : [],
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
        return GUESSED.test(title) || hasPrivateWord(title) ? [`${path}: ${title}`] : [];
      }),
    );
  expect(riddles).toEqual([]);
});
