import { readFileSync } from 'node:fs';
import MarkdownIt from 'markdown-it';

/** Text of a paragraph, an item of a list, a heading or a cell of a table. */
export interface Paragraph {
  /** `FILE:LINE`. */
  at: string;
  /** Number of lines that it takes in the file. */
  lines: number;
  /** Text without marks. Each span of code is one word. */
  text: string;
  isHeading: boolean;
}

const markdown = new MarkdownIt();

/** Returns the paragraphs of a document. Blocks of code are left out. */
export function paragraphsOf(path: string): Paragraph[] {
  // Cells have no lines of their own: they are in that of their row.
  let row: [number, number] = [0, 0];
  let isHeading = false;
  return markdown.parse(readFileSync(path, 'utf8'), {}).flatMap(({ type, map, children }) => {
    if (type === 'tr_open' && map) row = map;
    if (type.startsWith('heading_')) isHeading = type === 'heading_open';
    if (type !== 'inline') return [];
    const [from, to] = map ?? row;
    const text = (children ?? []).map((child) => {
      if (child.type === 'code_inline') return 'CODE';
      return child.type.endsWith('break') ? ' ' : child.content;
    });
    return [{ at: `${path}:${from + 1}`, lines: to - from, text: text.join(''), isHeading }];
  });
}

/** Returns the sentences of a text. A colon or a semicolon ends none. */
export const sentencesOf = (text: string): string[] => text.split(/(?<=[.?!])\s+(?=\S)/);

/**
 * Returns the lines of numbered lists that begin with another number than 1: a block that is not
 * indented splits the steps of a list.
 */
export const splitLists = (path: string): string[] =>
  markdown
    .parse(readFileSync(path, 'utf8'), {})
    .filter((token) => token.type === 'ordered_list_open' && token.attrGet('start') !== null)
    .map(({ map }) => `${path}:${(map?.[0] ?? 0) + 1}`);
