import { parseSync } from '@swc/core';
import type { Extent } from './extent-text.ts';

/** The fields that this file reads of a node of swc's syntax tree. */
interface SyntaxNode {
  type: string;
  span: Extent;
  identifier?: { value?: unknown } | null;
  id?: { value?: unknown };
  key?: { value?: unknown; span: Extent };
  init?: SyntaxNode | null;
  value?: unknown;
}

const FUNCTIONS = ['ArrowFunctionExpression', 'FunctionExpression'];

/**
 * Returns the functions, methods, classes and constants of a name in a part of a TypeScript file. A
 * constant inside a function counts only if its value is a function.
 * @throws Error if the text is not TypeScript
 */
export function nestedFunctions(text: string, name: string, outer: Extent): Extent[] {
  const found: Extent[] = [];
  const visit = (node: SyntaxNode, depth: number) => {
    const inside = node.span.start >= outer.start && node.span.end <= outer.end;
    if (inside && nameOf(node, depth) === name) found.push(node.span);
    const deeper = depth + (/Function|Method/.test(node.type) ? 1 : 0);
    for (const child of childrenOf(node)) visit(child, deeper);
  };
  for (const node of statementsOf(text)) visit(node, 0);
  return found.filter(({ start, end }) => start > outer.start || end < outer.end);
}

function nameOf(node: SyntaxNode, depth: number): unknown {
  switch (node.type) {
    case 'ClassDeclaration':
    case 'FunctionDeclaration':
      return node.identifier?.value;
    case 'VariableDeclarator':
      return depth === 0 || isFunction(node.init) ? node.id?.value : undefined;
    case 'ClassMethod':
    case 'PrivateMethod':
    case 'MethodProperty':
      return node.key?.value;
    case 'KeyValueProperty':
      return isFunction(node.value) ? node.key?.value : undefined;
    default:
      return undefined;
  }
}

const isFunction = (value: unknown): boolean => isNode(value) && FUNCTIONS.includes(value.type);

/**
 * Returns the child nodes. Objects without a type, such as elements of an argument list, are
 * replaced by their children.
 */
function childrenOf(value: object): SyntaxNode[] {
  return Object.values(value).flatMap((child): SyntaxNode[] => {
    if (typeof child !== 'object' || child === null) return [];
    return isNode(child) ? [child] : childrenOf(child);
  });
}

/** Reports whether a value is a node. swc records no span for a property `key: value`. */
const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  ('span' in value || value.type === 'KeyValueProperty');

/** Parses a text. @throws Error if it is not TypeScript */
export const parse = (text: string) => parseSync(text, { syntax: 'typescript', target: 'es2024' });

/** Returns the statements of a text, with spans in characters. */
function statementsOf(text: string): SyntaxNode[] {
  // swc counts bytes, continuing from the previous text: the empty statement in front marks the
  // start of this one.
  const { body } = parse(`;${text}`);
  const [first, ...statements] = body as unknown as SyntaxNode[];
  const base = (first as SyntaxNode).span.end;
  const offsets = offsetsOf(text);
  const offset = (position: number) => offsets?.[position - base] ?? position - base;
  const convert = (node: SyntaxNode): SyntaxNode => {
    for (const child of childrenOf(node)) convert(child);
    const { key, value } = node;
    node.span =
      node.span === undefined && key !== undefined && isNode(value)
        ? { start: key.span.start, end: value.span.end }
        : { start: offset(node.span.start), end: offset(node.span.end) };
    return node;
  };
  return statements.map(convert);
}

/** Returns the character offset of each byte, or undefined if each character is one byte. */
function offsetsOf(text: string): number[] | undefined {
  if (Buffer.byteLength(text) === text.length) return undefined;
  const offsets: number[] = [];
  let at = 0;
  for (const character of text) {
    for (let byte = Buffer.byteLength(character); byte > 0; byte--) offsets.push(at);
    at += character.length;
  }
  return [...offsets, at];
}
