import { STRUCTS } from './fields.ts';

/** A field of a Go struct, as fields.ts has it. */
export interface StructField {
  name: string;
  type: string;
  /** `omitempty`: an empty value is left out of the JSON. */
  omitEmpty: boolean;
  /** `omitzero`: so is a struct of zeros. */
  omitZero: boolean;
}

type Struct = ReadonlyMap<string, StructField>;

const read = new Map<string, Struct>();

/** Read when it is first needed: few are. Undefined: not the name of a struct. */
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

/** As Go's reflection names a type: `[]v1.Container`. */
export function goName(type: string): string {
  if (type.startsWith('*')) return goName(type.slice(1));
  if (type.startsWith('[')) return `[]${goName(type.slice(1))}`;
  if (type.startsWith('{')) return `map[string]${goName(type.slice(1))}`;
  return structOf(type) === undefined ? type : `v1.${type}`;
}
