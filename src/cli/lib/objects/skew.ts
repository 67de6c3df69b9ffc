/** The part of a CustomResourceDefinition that is compared. */
export interface Definition {
  metadata: { name: string };
  spec: {
    versions: readonly { name: string; schema?: { openAPIV3Schema?: object } | undefined }[];
  };
}

export interface Skew {
  /** different: it has the same fields, but not as this program brings them; or it both has more and lacks some. */
  skew: 'none' | 'older' | 'newer' | 'different' | 'missing';
  /** Fields that this program knows and the cluster does not, such as `spec.onDelete`. Not those within them. */
  lacks: string[];
  /** The other way round. */
  extra: string[];
}

/** How the CRD in a cluster differs from the one that this program brings. */
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

/** The fields of the version that this program uses. */
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

/** Without those that are within others. */
const topmost = (fields: readonly string[]): string[] =>
  fields.filter(
    (field) =>
      !fields.some((other) => field.startsWith(`${other}.`) || field.startsWith(`${other}[].`)),
  );

/** API servers fill in defaults, so that there may be more than was given. */
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
