/** What the definitions of standard kinds have in common: they are not Stowage's, and are spelt as their projects do. */

interface Standard {
  group: string;
  names: {
    kind: string;
    plural: string;
    singular: string;
    shortNames?: string[];
    categories?: string[];
  };
  scope: 'Cluster' | 'Namespaced';
  /** Where the group's reviewers approved it: API servers ask for that in groups of k8s.io (KEP-1111). */
  approved: string;
  versions: readonly Version[];
}

interface Version {
  name: string;
  storage: boolean;
  hasStatus?: boolean;
  columns: readonly { name: string; type: string; jsonPath: string; description?: string }[];
  schema: object;
}

/** A CustomResourceDefinition (apiextensions.k8s.io/v1). All its versions are served. */
export const standardCrd = ({ group, names, scope, approved, versions }: Standard) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${names.plural}.${group}`,
    annotations: { 'api-approved.kubernetes.io': approved },
  },
  spec: {
    group,
    scope,
    names: { listKind: `${names.kind}List`, ...names },
    versions: versions.map(({ name, storage, hasStatus, columns, schema }) => ({
      name,
      served: true,
      storage,
      subresources: hasStatus ? { status: {} } : {},
      additionalPrinterColumns: columns,
      schema: { openAPIV3Schema: schema },
    })),
  },
});

/** An object with fields of its own, and those of all. */
export const root = (
  description: string,
  required: string[],
  properties: Record<string, object>,
) => ({
  type: 'object',
  description,
  ...(required.length === 0 ? {} : { required }),
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    ...properties,
  },
});

export const string = (description: string) => ({ type: 'string', description });

/** Once it is given it stays what it is; that it is not taken away is the parent's to see: see `keeps`. */
export const fixed = (name: string, description: string) => ({
  ...string(description),
  'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: `${name} is immutable` }],
});

/** The rule of an object whose field, once it is given, is not taken away. */
export const keeps = (name: string) => ({
  rule: `!has(oldSelf.${name}) || has(self.${name})`,
  message: `${name} is required once set`,
});

/** The rule of an object that has one of two fields. */
export const oneOf = (a: string, b: string) => ({
  rule: `(has(self.${a}) && !has(self.${b})) || (!has(self.${a}) && has(self.${b}))`,
  message: `exactly one of ${a} and ${b} must be set`,
});

export const time = (description: string) => ({ type: 'string', format: 'date-time', description });

/** The last failure, in the status of snapshots. */
export const lastError = {
  type: 'object',
  description: 'The last failure, if any; it may be over.',
  properties: {
    time: time('When it was met.'),
    message: string('What happened. It may be logged: no secrets.'),
  },
};

export const deletionPolicy = {
  type: 'string',
  enum: ['Delete', 'Retain'],
  description: 'Whether the snapshot in the storage goes with the object that stands for it.',
};

export const column = (name: string, jsonPath: string, type = 'string') => ({
  name,
  type,
  jsonPath,
});
export const AGE = column('Age', '.metadata.creationTimestamp', 'date');
