import { STRUCTS } from './fields.ts';

/** Field of a Go struct in fields.ts. */
export interface StructField {
  name: string;
  type: string;
  /** `omitempty`: an empty value is omitted from the JSON. */
  omitEmpty: boolean;
  /** `omitzero`: a struct of zeros is omitted, too. */
  omitZero: boolean;
}

type Struct = ReadonlyMap<string, StructField>;

const read = new Map<string, Struct>();

/**
 * Returns a struct, parsed on first use as few are needed; undefined if there is none of that name.
 */
export function structOf(name: string): Struct | undefined {
  const known = read.get(name);
  if (known !== undefined || !Object.hasOwn(STRUCTS, name)) return known;
  const struct = new Map((STRUCTS[name] ?? '').split(' ').filter(Boolean).map(parse));
  read.set(name, struct);
  return struct;
}

function parse(text: string): [string, StructField] {
  const [, name = '', omitted = '', type = ''] = /^(.*?)(\??\??):([^:]*)$/.exec(text) ?? [];
  return [name, { name, type, omitEmpty: omitted !== '', omitZero: omitted === '??' }];
}

/** Returns a type's name in Go's reflection: `[]v1.Container`. */
export function goName(type: string): string {
  if (type.startsWith('*')) return goName(type.slice(1));
  if (type.startsWith('[')) return `[]${goName(type.slice(1))}`;
  if (type.startsWith('{')) return `map[string]${goName(type.slice(1))}`;
  return structOf(type) === undefined ? type : `v1.${type}`;
}
