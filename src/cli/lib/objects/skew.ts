/** The part of a CustomResourceDefinition that is compared. */
export interface Definition {
  metadata: { name: string };
  spec: {
    versions: readonly { name: string; schema?: { openAPIV3Schema?: object } | undefined }[];
  };
}

export interface Skew {
  /** `different`: the same fields with other content, or both more and missing fields. */
  skew: 'none' | 'older' | 'newer' | 'different' | 'missing';
  /** Fields that only this program knows, such as `spec.onDelete`, without those within them. */
  lacks: string[];
  /** Fields that only the cluster knows. */
  extra: string[];
}

/** Compares the CRD in a cluster with the one of this program. */
export function skewOf(ours: Definition, installed: Definition | undefined): Skew {
  if (installed === undefined) return { skew: 'missing', lacks: [], extra: [] };
  const known = fieldsOf(ours, ours);
  const found = fieldsOf(installed, ours);
  const lacks = topmost(known.filter((field) => !found.includes(field)));
  const extra = topmost(found.filter((field) => !known.includes(field)));
  return { skew: worded(lacks, extra, contains(installed.spec, ours.spec)), lacks, extra };
}

function worded(lacks: readonly string[], extra: readonly string[], same: boolean): Skew['skew'] {
  if (lacks.length > 0) return extra.length > 0 ? 'different' : 'older';
  if (extra.length > 0) return 'newer';
  return same ? 'none' : 'different';
}

/** Returns the fields of the version that this program uses. */
function fieldsOf({ spec }: Definition, ours: Definition): string[] {
  const used = ours.spec.versions[0]?.name;
  const version = spec.versions.find(({ name }) => name === used);
  return within(version?.schema?.openAPIV3Schema ?? {}, '');
}

function within(
  schema: { properties?: Record<string, object>; items?: object },
  path: string,
): string[] {
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
      const field = path === '' ? name : `${path}.${name}`;
      return [field, ...within(inner, field)];
    }),
    ...(schema.items === undefined ? [] : within(schema.items, `${path}[]`)),
  ];
}

/** Returns the fields that are not within others. */
const topmost = (fields: readonly string[]): string[] =>
  fields.filter(
    (field) =>
      !fields.some((other) => field.startsWith(`${other}.`) || field.startsWith(`${other}[].`)),
  );

/** Reports whether `found` has all of `wanted`. It may have more: API servers fill in defaults. */
function contains(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(found) &&
      found.length === wanted.length &&
      wanted.every((item, index) => contains(found[index], item))
    );
  }
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  return Object.entries(wanted).every(([key, value]) => contains(Reflect.get(found, key), value));
}
