import { JSONPath } from 'jsonpath-plus';
import { StowageError } from '../../../api/errors.ts';
import { escapeControls, escaped } from './printable.ts';

/** Part of a template: text, or an expression in braces. */
type Part = { text: string } | { path: string } | { range: string; body: Part[] };

const HINT = "Write it as in kubectl, for example: -o jsonpath='{.items[*].metadata.name}'";

const wrong = (what: string): StowageError =>
  new StowageError('usage', `-o jsonpath: ${what}`, { hint: HINT });

/**
 * Fills a JSONPath template of kubectl: text, `{.path}`, `{"text"}`, and `{range .path}…{end}`.
 * Missing fields are empty. Several values are separated by spaces; objects and arrays are JSON.
 * Throws a StowageError `usage`.
 * Source: https://kubernetes.io/docs/reference/kubectl/jsonpath/
 */
export function fillJsonPath(template: string, data: object): string {
  return fill(parse(template), data);
}

function fill(parts: readonly Part[], data: unknown): string {
  return parts
    .map((part) => {
      if ('text' in part) return part.text;
      if ('path' in part) return find(part.path, data).map(textOf).join(' ');
      return find(part.range, data)
        .map((each) => fill(part.body, each))
        .join('');
    })
    .join('');
}

/** Returns the text of a value. Escapes what steers a terminal: tenants write values. */
function textOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return escapeControls(JSON.stringify(value));
  return String(value).replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, escaped);
}

function find(path: string, json: unknown): unknown[] {
  if (typeof json !== 'object' || json === null) return path === '@' ? [json] : [];
  try {
    // `safe` runs filters in an interpreter of its own, not as JavaScript.
    return JSONPath({
      path: queryOf(path),
      json,
      eval: 'safe',
      ignoreEvalErrors: true,
    }) as unknown[];
  } catch (error) {
    throw wrong(`{${path}}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Converts kubectl's `.a.b\.c` and `@` to a query from the root. */
function queryOf(path: string): string {
  const query = path
    .replace(/^[$@]/, '')
    .replace(/\[-(\d+)\]/g, (_, n: string) => (n === '1' ? '[-1:]' : `[-${n}:-${Number(n) - 1}]`));
  const bracketed = query.replace(
    /\.((?:[^.[\]\\]|\\.)*\\.(?:[^.[\]\\]|\\.)*)/g,
    (_, name: string) => `['${name.replace(/\\(.)/g, '$1')}']`,
  );
  return `$${bracketed === '' || /^[.[]/.test(bracketed) ? bracketed : `.${bracketed}`}`;
}

function parse(template: string): Part[] {
  const tokens = [
    ...template.matchAll(/\{((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^{}"'])*)\}|([^{}]+)|([{}])/g),
  ];
  const open: { range: string; body: Part[] }[] = [];
  const all: Part[] = [];
  const parts = () => open.at(-1)?.body ?? all;
  for (const [, inner, text, brace] of tokens) {
    if (brace !== undefined) throw wrong('a brace is not closed');
    if (text !== undefined) parts().push({ text });
    else if (inner !== undefined) add(inner.trim());
  }
  if (open.length > 0) throw wrong('{range} has no {end}');
  return all;

  function add(inner: string): void {
    const [, literal] = /^'(.*)'$/s.exec(inner) ?? [];
    const quoted = literal === undefined ? inner : `"${literal.replaceAll('"', '\\"')}"`;
    if (/^".*"$/s.test(quoted)) parts().push({ text: unquoted(quoted) });
    else if (inner === 'end') {
      const range = open.pop();
      if (range === undefined) throw wrong('{end} has no {range}');
      parts().push(range);
    } else if (/^range\s/.test(inner)) open.push({ range: inner.slice(5).trim(), body: [] });
    else if (inner === '') throw wrong('{} is empty');
    else parts().push({ path: inner });
  }
}

function unquoted(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw wrong(`${literal} is not a quoted string`);
  }
}
