import { printable } from './printable.ts';

/** Value of a field. A missing one shows as `<none>`. A drawn table stands below its label. */
export type FieldValue =
  | string
  | undefined
  | readonly string[]
  | { fields: readonly Field[] }
  | { table: string };
export type Field = readonly [label: string, value: FieldValue];

/** Returns labels and values, as in `kubectl describe`. Further lines align with the first one. */
export function fields(all: readonly Field[], indent = ''): string {
  const column =
    Math.max(...all.filter(([, value]) => isPlain(value)).map(([label]) => label.length)) + 3;
  return all.map((field) => draw(field, indent, column)).join('');
}

const isPlain = (value: FieldValue): boolean => typeof value !== 'object' || Array.isArray(value);

function draw([label, value]: Field, indent: string, column: number): string {
  if (typeof value === 'object' && 'fields' in value) {
    return `${indent}${label}:\n${fields(value.fields, `${indent}  `)}`;
  }
  if (typeof value === 'object' && 'table' in value) {
    return `${indent}${label}:\n${value.table.replaceAll(/^(?=.)/gm, `${indent}  `)}`;
  }
  const lines = typeof value === 'object' ? value.flatMap(linesOf) : linesOf(value ?? '');
  const [first = '<none>', ...rest] = lines;
  const under = ' '.repeat(indent.length + column);
  return [
    `${indent}${`${label}:`.padEnd(column)}${first}`,
    ...rest.map((line) => under + line),
    '',
  ].join('\n');
}

const linesOf = (text: string): string[] =>
  text === '' ? [] : printable(text).replaceAll('\t', ' ').split('\n');
