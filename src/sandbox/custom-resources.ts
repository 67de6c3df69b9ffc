import type { Cause, Kind, StoredObject } from './kind.ts';
import type { KindRegistry } from './kind-registry.ts';
import { type Cluster, settle, timestamp } from './objects/cluster.ts';
import { invalidValue, notSupported, requiredValue, resourceName } from './refusal.ts';
import { compileSchema } from './schema/compile.ts';
import type { Structural } from './schema/structural.ts';
import { keyOf } from './store.ts';
import { customColumns, type PrinterColumn } from './tables/custom.ts';

/** Fields of a CustomResourceDefinition that the sandbox reads. */
interface Definition extends StoredObject {
  spec: {
    group: string;
    scope: 'Cluster' | 'Namespaced';
    conversion?: object;
    names: {
      plural: string;
      kind: string;
      singular?: string;
      listKind?: string;
      shortNames?: string[];
      categories?: string[];
    };
    versions: Version[];
  };
}

interface Version {
  name: string;
  served?: boolean;
  storage?: boolean;
  schema?: { openAPIV3Schema?: Structural };
  subresources?: { status?: object };
  additionalPrinterColumns?: PrinterColumn[];
}

/** Finalizer of a definition while it has instances. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';
export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

/** Returns the kind CustomResourceDefinition itself. */
export function definitionKind(): Kind {
  return {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    plural: 'customresourcedefinitions',
    singular: 'customresourcedefinition',
    kind: 'CustomResourceDefinition',
    namespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    statusSubresource: true,
    custom: false,
    generations: true,
    deletionFinalizer: CLEANUP_FINALIZER,
    fillDefaults: (object) => fillNames(object as Definition),
    prepare(object) {
      const { spec } = object as Definition;
      object.status = { conditions: null, storedVersions: storedVersions(spec) };
    },
    validate: (object, old) => [
      ...definitionCauses(object as Definition),
      ...(old === undefined ? [] : scopeChange(object as Definition, old as Definition)),
    ],
  };
}

/** Serves the kinds of all definitions in the store, from each write of a definition on. */
export function serveDefinitions(cluster: Cluster): void {
  const { store, kinds } = cluster;
  /**
   * Generations of the registered definitions, by name. Other writes change nothing, and
   * compiling a schema takes long.
   */
  const generations = new Map<string, number | undefined>();
  store.subscribe((change) => {
    if (change.table !== DEFINITIONS) return;
    const { name, generation } = change.object.metadata;
    if (change.type === 'DELETED') {
      kinds.unregister(name);
      generations.delete(name);
    } else if (change.type === 'ADDED' || generations.get(name) !== generation) {
      registerDefinition(kinds, change.object as Definition);
      generations.set(name, generation);
    }
    if (change.type === 'ADDED')
      setImmediate(() => establish(cluster, change.object.metadata.name));
  });
}

/** Reports a definition as established, after it is served, as a controller does. */
function establish(cluster: Cluster, name: string): void {
  const definition = cluster.store.get(DEFINITIONS, keyOf(undefined, name)) as
    | Definition
    | undefined;
  if (definition === undefined) return;
  const status = established(definition, timestamp(cluster.now()));
  settle(cluster, DEFINITIONS, { ...definition, status });
}

function fillNames({ spec }: Definition): void {
  if (spec?.names?.kind === undefined) return;
  const { kind, singular, listKind } = spec.names;
  if (!singular) spec.names.singular = kind.toLowerCase();
  if (!listKind) spec.names.listKind = `${kind}List`;
  spec.conversion ??= { strategy: 'None' };
}

function scopeChange({ spec }: Definition, old: Definition): Cause[] {
  if (spec.scope === old.spec.scope) return [];
  return [invalidValue('spec.scope', JSON.stringify(spec.scope), 'field is immutable')];
}

/**
 * Registers the served versions of a definition. There is no conversion: versions differ only in
 * their names and in what their schemas permit.
 */
function registerDefinition(kinds: KindRegistry, { metadata, spec }: Definition): void {
  const [first, ...others] = spec.versions
    .filter((version) => version.served)
    .map((version) => kindOf(spec, version));
  if (first === undefined) kinds.unregister(metadata.name);
  else kinds.register([first, ...others]);
}

function kindOf({ group, scope, names }: Definition['spec'], version: Version): Kind {
  const schema = version.schema?.openAPIV3Schema;
  return {
    group,
    version: version.name,
    plural: names.plural,
    kind: names.kind,
    namespaced: scope === 'Namespaced',
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    statusSubresource: version.subresources?.status !== undefined,
    custom: true,
    columns: customColumns(version.additionalPrinterColumns),
    ...(schema === undefined ? {} : { schema: compileSchema(schema) }),
  };
}

function definitionCauses(definition: Definition): Cause[] {
  const { metadata, spec } = definition;
  const missing = (['names', 'scope', 'versions'] as const).filter((field) => !spec?.[field]);
  if (missing.length > 0) return missing.map((field) => requiredValue(`spec.${field}`));
  const wanted = resourceName({ group: spec.group, plural: spec.names.plural } as Kind);
  if (metadata.name !== wanted)
    return [
      invalidValue(
        'metadata.name',
        JSON.stringify(metadata.name),
        'must be spec.names.plural+"."+spec.group',
      ),
      ...(spec.group ? [] : [requiredValue('spec.group')]),
    ];
  if (!['Cluster', 'Namespaced'].includes(spec.scope))
    return [notSupported('spec.scope', spec.scope, ['Cluster', 'Namespaced'])];
  if (spec.versions.filter((version) => version.storage).length !== 1)
    return [
      invalidValue(
        'spec.versions',
        '[]',
        'must have exactly one version marked as storage version',
      ),
    ];
  return spec.versions.flatMap((version, i) => versionCauses(version, `spec.versions[${i}]`));
}

function versionCauses({ schema, additionalPrinterColumns }: Version, path: string): Cause[] {
  const properties = schema?.openAPIV3Schema;
  if (properties === undefined) return [requiredValue(`${path}.schema.openAPIV3Schema`)];
  return [
    ...thrown(`${path}.schema.openAPIV3Schema`, () => compileSchema(properties)),
    ...thrown(`${path}.additionalPrinterColumns`, () => customColumns(additionalPrinterColumns)),
  ];
}

function thrown(field: string, compile: () => unknown): Cause[] {
  try {
    compile();
    return [];
  } catch (error) {
    return [invalidValue(field, '"object"', (error as Error).message)];
  }
}

const storedVersions = (spec: Definition['spec']) =>
  spec?.versions?.filter((version) => version.storage).map((version) => version.name);

function established({ spec }: Definition, since: string) {
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    reason,
    message,
    lastTransitionTime: since,
  });
  return {
    acceptedNames: spec?.names,
    storedVersions: storedVersions(spec),
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
  };
}
