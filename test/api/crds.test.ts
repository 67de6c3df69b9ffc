import { describe, expect, test } from '@jest/globals';
import { ARCHIVES } from '../../src/api/builtins/archive.ts';
import { BACKUP_PHASES, BACKUPS } from '../../src/api/builtins/backup.ts';
import { IMAGES } from '../../src/api/builtins/image.ts';
import { COMPRESSIONS, sourceOptions } from '../../src/api/builtins/source.ts';
import { ALL_CRDS, type CustomResourceDefinition, type Schema } from '../../src/api/crds.ts';
import { KEPT_FIELDS } from '../../src/api/leftover.ts';
import type { Resource } from '../../src/api/meta.ts';
import { BUILTINS, CAPABILITIES } from '../../src/api/populator.ts';
import {
  LEFTOVERS,
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';

/** Returns the CRD of a kind, to be compared with the program's types and constants. */

const crdOf = ({ group, plural }: Resource): CustomResourceDefinition => {
  const found = ALL_CRDS.find(({ metadata }) => metadata.name === `${plural}.${group}`);
  if (found === undefined) throw new Error(`no definition of ${plural}`);
  return found;
};
/** Returns the schema of a field in the first version, by its path. */
const fieldOf = (resource: Resource, ...path: string[]): Schema =>
  path.reduce<Schema>(
    (schema, name) => schema.properties?.[name] ?? {},
    crdOf(resource).spec.versions[0]?.schema.openAPIV3Schema ?? {},
  );

const KINDS = [
  ...[VOLUMES, LEFTOVERS, POPULATOR_DEFINITIONS, REFERENCE_GRANTS, VOLUME_POPULATORS],
  ...[VOLUME_SNAPSHOTS, VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOT_CLASSES, VOLUME_SNAPSHOT_LINKS],
  ...[IMAGES, ARCHIVES, BACKUPS],
];

test.each(KINDS.map((resource) => [resource.kind, resource] as const))(
  'the CRD of %s has the group, scope, names and version that requests use',
  (kind, resource) => {
    const { spec } = crdOf(resource);
    expect(spec.group).toBe(resource.group);
    expect(spec.scope).toBe(resource.namespaced ? 'Namespaced' : 'Cluster');
    expect(spec.names).toMatchObject({ kind, listKind: `${kind}List`, plural: resource.plural });
    expect(spec.names.singular).toBe(kind.toLowerCase());
    expect(spec.versions.filter(({ served }) => served).map(({ name }) => name)).toContain(
      resource.version,
    );
    expect(spec.versions.filter(({ storage }) => storage)).toHaveLength(1);
  },
);

test('these tests cover every CRD', () => {
  expect(KINDS.map(crdOf)).toHaveLength(ALL_CRDS.length);
});

test.each([
  ['built-ins of Volumes', [VOLUMES, 'spec', 'source', 'populator', 'builtin'], BUILTINS],
  ['built-ins of kinds', [POPULATOR_DEFINITIONS, 'spec', 'node', 'builtin'], BUILTINS],
  ['phases of Backups', [BACKUPS, 'status', 'phase'], BACKUP_PHASES],
  ['compressions of Images', [IMAGES, 'spec', 'compression'], COMPRESSIONS],
  ['compressions of Archives', [ARCHIVES, 'spec', 'compression'], COMPRESSIONS],
] as const)('the enum of %s equals the list in the program', (_, [resource, ...path], values) => {
  expect(fieldOf(resource, ...path).enum).toEqual(values);
});

test('a PopulatorDefinition adds only the capabilities that Pod Security baseline allows', () => {
  const path = ['spec', 'pod', 'containerSecurityContext', 'capabilities', 'add'];
  const { items } = fieldOf(POPULATOR_DEFINITIONS, ...path) as { items?: Schema };
  expect(items?.enum).toEqual(CAPABILITIES);
});

test('a Leftover has the schema of its Volume for each copied field', () => {
  for (const field of [...KEPT_FIELDS, 'nodeName'])
    expect(fieldOf(LEFTOVERS, 'spec', field)).toEqual(fieldOf(VOLUMES, 'spec', field));
  for (const field of ['phase', 'conditions', 'job', 'attempt', 'observedGeneration'])
    expect(fieldOf(LEFTOVERS, 'status', field)).toEqual(fieldOf(VOLUMES, 'status', field));
  expect(fieldOf(LEFTOVERS, 'spec', 'prepared')).toEqual(fieldOf(VOLUMES, 'status', 'prepared'));
});

describe.each([
  ['Images', IMAGES, 'source'],
  ['Archives', ARCHIVES, 'source'],
  ['Backups', BACKUPS, 'to'],
] as const)('the schema of %s', (_, resource, name) => {
  test.each([
    ['url', 'https://example.com/a.img', 2048],
    ['path', '/srv/a.img', 1024],
  ] as const)('accepts the same values of %s as sourceOptions', (field, good, longest) => {
    const { pattern = '', maxLength } = fieldOf(resource, 'spec', name, field);
    expect(maxLength).toBe(longest);
    const isGood = (value: string) =>
      new RegExp(pattern, 'u').test(value) && value.length <= longest;
    const full = good.padEnd(longest, 'a');
    for (const value of [good, full, `${full}a`, '', 'x', `${good} `, `${good}\n`, `${good}ä`]) {
      expect([value, isGood(value)]).toEqual([
        value,
        'options' in sourceOptions({ [field]: value }, 'none'),
      ]);
    }
  });
});
