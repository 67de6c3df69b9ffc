import { readFileSync } from 'node:fs';

/** A line of a comment, without its marks. */
export interface CommentLine {
  /** `FILE:LINE`. */
  at: string;
  text: string;
  /** The line begins a comment or, after an empty line, a paragraph of it. */
  opens: boolean;
}

/** Returns the lines of the comments of a TypeScript, JavaScript, shell or Python file. */
export function commentLines(path: string): CommentLine[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const isScript = /\.(sh|py)$/.test(path) || lines[0]?.startsWith('#!/bin/');
  let isInBlock = false;
  let before = '';
  return lines.flatMap((line, index) => {
    const text = isScript ? lineComment(line, '#') : blockComment(line);
    const opens = before === '';
    before = text ?? '';
    if (!text) return [];
    return [{ at: `${path}:${index + 1}`, text, opens }];
  });

  function blockComment(line: string): string | undefined {
    const trimmed = line.trim();
    if (!isInBlock && !trimmed.startsWith('/*')) return lineComment(line, '//');
    const body = trimmed.replace(/^\/?\*+(?!\/)/, '').replace(/\*+\/.*$/, '');
    isInBlock = !trimmed.includes('*/');
    return body.trim();
  }
}

function lineComment(line: string, mark: string): string | undefined {
  const trimmed = line.trim();
  if (!trimmed.startsWith(mark) || trimmed.startsWith('#!')) return undefined;
  return trimmed.slice(mark.length).trim();
}
