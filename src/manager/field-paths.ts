import type { KubeObject } from '../api/meta.ts';

/** A field of T, as `spec.volumes[].name`: `[]` stands for each element of a list. */
export type Path<T> = T extends readonly unknown[]
  ? never
  : T extends object
    ? { [K in keyof T & string]: K | `${K}${Below<NonNullable<T[K]>>}` }[keyof T & string]
    : never;

type Below<T> = T extends readonly (infer E)[] ? `[].${Path<E>}` : `.${Path<T>}`;

/**
 * Returns what to keep of a field's value, already reduced to the paths below it; undefined drops
 * the field.
 */
export type Rule<T> = (value: never, object: T) => unknown;

/**
 * Path of a field to keep, with rules to apply in order. Without rules, the field is kept
 * unchanged.
 */
export type Field<T> = Path<T> | readonly [Path<T>, ...Rule<T>[]];

/** T reduced to the fields of the paths. */
export type Kept<T, P extends string> = T extends readonly (infer E)[]
  ? Kept<E, P>[]
  : string extends keyof T
    ? T
    : { [K in keyof T as K extends Head<P> ? K : never]: KeptField<T[K], Tail<P, K>> };

type KeptField<V, P extends string> = [P] extends [never] ? V : V extends object ? Kept<V, P> : V;
type Head<P extends string> = P extends `${infer H}.${string}` ? Trim<H> : P;
type Tail<P extends string, K> = P extends `${infer H}.${infer R}`
  ? Trim<H> extends K
    ? R
    : never
  : never;
type Trim<H extends string> = H extends `${infer K}[]` ? K : H;

type PathsOf<F extends readonly unknown[]> = F[number] extends infer E
  ? E extends readonly [infer P extends string, ...unknown[]]
    ? P
    : E & string
  : never;

interface FieldNode<T> {
  name: string;
  rules: readonly Rule<T>[];
  /** If empty, the value is kept whole. */
  fields: FieldNode<T>[];
}

/**
 * Creates transforms, as client-go's TransformFunc, from the list of fields that caches keep. A
 * transform returns a new object with only those fields. An existing parent is kept even without
 * any of its fields.
 */
export const transformOf =
  <T extends KubeObject>() =>
  <const F extends readonly Field<T>[]>(fields: F) => {
    const root: FieldNode<T> = { name: '', rules: [], fields: [] };
    for (const field of fields) {
      const [path, ...rules] = typeof field === 'string' ? [field] : field;
      nodeAt(root, path).rules = rules;
    }
    return (object: T) => pick(object, root.fields, object) as Kept<T, PathsOf<F>>;
  };

function nodeAt<T>(root: FieldNode<T>, path: string): FieldNode<T> {
  let node = root;
  for (const name of path.replaceAll('[]', '').split('.')) {
    let next = node.fields.find((field) => field.name === name);
    if (next === undefined) {
      next = { name, rules: [], fields: [] };
      node.fields.push(next);
    }
    node = next;
  }
  return node;
}

function pick<T>(
  value: unknown,
  fields: readonly FieldNode<T>[],
  object: T,
): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const whole = value as Record<string, unknown>;
  const kept: Record<string, unknown> = {};
  for (const node of fields) {
    const field = whole[node.name];
    const narrowed = field === undefined ? undefined : narrow(field, node, object);
    if (narrowed !== undefined) kept[node.name] = narrowed;
  }
  return kept;
}

function narrow<T>(value: unknown, { fields, rules }: FieldNode<T>, object: T): unknown {
  let kept = value;
  if (fields.length > 0) {
    kept = Array.isArray(value)
      ? value.map((element) => pick(element, fields, object))
      : pick(value, fields, object);
  }
  for (const rule of rules) {
    if (kept === undefined) return undefined;
    kept = rule(kept as never, object);
  }
  return kept;
}
