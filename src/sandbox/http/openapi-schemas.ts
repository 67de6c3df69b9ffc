import type { Kind } from '../kind.ts';
import type { Structural } from '../schema/structural.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

const text = (description: string) => ({ type: 'string', description });
const texts = (description: string) => ({
  type: 'object',
  additionalProperties: { type: 'string', default: '' },
  description,
});

const OBJECT_META = {
  type: 'object',
  description: 'ObjectMeta is metadata that all persisted resources must have.',
  properties: {
    name: text('Name, unique within a namespace. Cannot be updated.'),
    generateName: text('Prefix of a unique name that the server makes when there is no name.'),
    namespace: text('The space within which the name is unique. Cannot be updated.'),
    labels: texts('Keys and values by which objects are selected.'),
    annotations: texts('Keys and values that tools keep with an object.'),
    finalizers: {
      type: 'array',
      items: { type: 'string', default: '' },
      description: 'While there are any, an object that is deleted stays.',
    },
    uid: text('Unique in time and space. Set by the server.'),
    resourceVersion: text('Changes with every write. Set by the server.'),
    generation: {
      type: 'integer',
      format: 'int64',
      description: 'Counts changes of what is wanted. Set by the server.',
    },
    creationTimestamp: text('When the object was created. Set by the server.'),
    deletionTimestamp: text('When it was asked to be deleted. Set by the server.'),
  },
};

const ROOT = {
  apiVersion: text(
    'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources',
  ),
  kind: text(
    'Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds',
  ),
  metadata: {
    description:
      "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
    allOf: [{ $ref: `#/components/schemas/${META}` }],
  },
};

/**
 * Returns the schemas of kinds, by the API server's names. Schemas of built-in kinds only state
 * that their fields are unknown.
 */
export function schemasOf(kinds: Kind[]): object {
  return {
    [META]: OBJECT_META,
    ...Object.fromEntries(kinds.map((kind) => [nameOf(kind), schemaOf(kind)])),
  };
}

/** Returns the name of a schema: `com.example.v1.Disk`. */
function nameOf({ group, version, kind }: Kind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

function schemaOf({ group, version, kind, schema }: Kind): object {
  const definition = (schema?.definition as Structural | undefined) ?? builtIn(kind);
  return {
    ...definition,
    properties: { ...definition.properties, ...ROOT },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  };
}

/**
 * Returns the schema of a built-in kind. Without it, `kubectl explain` would only
 * report that the kind is not found.
 */
const builtIn = (kind: string): Structural => ({
  type: 'object',
  description: `The sandbox does not carry the fields of built-in kinds: ask a real cluster for those of ${kind}.`,
  'x-kubernetes-preserve-unknown-fields': true,
});
