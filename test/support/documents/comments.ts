import { readFileSync } from 'node:fs';

/** A line of a comment, without its marks. */
export interface CommentLine {
  /** `FILE:LINE`. */
  at: string;
  text: string;
  /** The line begins a comment or, after an empty line, a paragraph of it. */
  opens: boolean;
}

/** A sentence of a comment. */
export interface CommentSentence {
  /** `FILE:LINE` of its first line. */
  at: string;
  text: string;
}

/** Marks of comments by the ends of paths. Other files are TypeScript or JavaScript. */
const HASH = /\.(?:sh|py|ya?ml|service|bash|fish|zsh)$|Containerfile$|sudoers$|_stowage$/;

/**
 * Returns the lines of the comments of a TypeScript, JavaScript, shell, YAML or Python file, with
 * the docstrings of Python.
 */
export function commentLines(path: string): CommentLine[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const isScript = HASH.test(path) || lines[0]?.startsWith('#!/bin/');
  let isInBlock = false;
  let before = '';
  return lines.flatMap((line, index) => {
    const text = isScript ? scriptComment(line) : blockComment(line);
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

  function scriptComment(line: string): string | undefined {
    const trimmed = line.trim();
    if (!path.endsWith('.py') || (!isInBlock && !trimmed.startsWith('"""')))
      return lineComment(line, '#');
    const marks = trimmed.split('"""').length - 1;
    if (marks === 1) isInBlock = !isInBlock;
    return trimmed.replaceAll('"""', '').trim();
  }
}

/** Returns the sentences of the comments of a file. */
export function commentSentences(path: string): CommentSentence[] {
  const sentences: CommentSentence[] = [];
  let isOver = true;
  for (const { at, text, opens } of commentLines(path)) {
    const [first = '', ...others] = text.split(/(?<=[.?!]) +(?=[A-Z`"'])/);
    const last = sentences.at(-1);
    if (opens || isOver || last === undefined || /^(?:[-*]|\d+\.) /.test(first)) {
      sentences.push({ at, text: first });
    } else {
      last.text += ` ${first}`;
    }
    sentences.push(...others.map((each) => ({ at, text: each })));
    isOver = /[.?!]$/.test(text);
  }
  return sentences;
}

function lineComment(line: string, mark: string): string | undefined {
  const trimmed = line.trim();
  if (!trimmed.startsWith(mark) || trimmed.startsWith('#!')) return undefined;
  return trimmed.slice(mark.length).trim();
}
