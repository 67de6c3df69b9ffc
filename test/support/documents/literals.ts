import { readFileSync } from 'node:fs';

/** A string literal of a file, without its quotes. */
export interface Literal {
  /** `FILE:LINE`. */
  at: string;
  text: string;
}

const LITERAL = /'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`/g;

/** Whole lines of comments, and imports. Both may contain quotes. */
const NO_CODE = /^ *(?:\/\/|\/?\*|import ).*$/gm;

/** Returns the literals of a TypeScript file that contain a space. Expressions are left out. */
export function literalsOf(path: string): Literal[] {
  const text = readFileSync(path, 'utf8').replaceAll(NO_CODE, '');
  return [...text.matchAll(LITERAL)].flatMap(({ index, 1: single, 2: double, 3: template }) => {
    const literal = (single ?? double ?? template ?? '').replaceAll(/\$?\{[^}]*\}|\$\w+/g, '{}');
    // A template of several lines is a script.
    if (!literal.includes(' ') || literal.includes('\n')) return [];
    return [{ at: `${path}:${text.slice(0, index).split('\n').length}`, text: literal }];
  });
}
