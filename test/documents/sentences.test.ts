import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { paragraphsOf, sentencesOf, splitLists } from '../support/documents/paragraphs.ts';
import { DOCUMENT_OPENING, hasPrivateWord } from '../support/documents/words.ts';

const documents = [...globSync('*.md'), ...globSync('docs/**/*.md')].sort();

/** Generated from messages, whose optional parts stand side by side. */
const REASONS = 'docs/reasons.md';

const MOST_WORDS = 25;
const MOST_LINES = 5;
const MOST_COLUMNS = 100;

const wordsIn = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;

describe.each(documents)('%s', (path) => {
  const paragraphs = paragraphsOf(path);
  const sentences = paragraphs.flatMap(({ at, text, isHeading }) =>
    sentencesOf(text).map((sentence) => ({ at, sentence, isHeading })),
  );

  test(`has sentences of at most ${MOST_WORDS} words`, () => {
    const long = sentences.filter(({ sentence }) => wordsIn(sentence) > MOST_WORDS);
    expect(path === REASONS ? [] : long).toEqual([]);
  });

  test(`has paragraphs of at most ${MOST_LINES} lines`, () => {
    expect(paragraphs.filter(({ lines }) => lines > MOST_LINES)).toEqual([]);
  });

  test('uses the terms of the field', () => {
    const found = sentences.filter(
      ({ sentence, isHeading }) =>
        (!isHeading && DOCUMENT_OPENING.test(sentence)) || hasPrivateWord(sentence),
    );
    expect(found).toEqual([]);
  });

  test('numbers the steps of a list from 1', () => expect(splitLists(path)).toEqual([]));

  test(`wraps lines at ${MOST_COLUMNS} columns, except in tables and code`, () => {
    const lines = readFileSync(path, 'utf8')
      .replaceAll(/^ *```.*?^ *```$/gms, '')
      .split('\n');
    const wide = lines.filter(
      (line) => [...line].length > MOST_COLUMNS && !/^\s*\||^\s*`[^`]*`$/.test(line),
    );
    expect(wide).toEqual([]);
  });
});
