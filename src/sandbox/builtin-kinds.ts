import {
  EVENTS,
  LEASES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  STORAGE_CLASSES,
} from '../api/resources.ts';
import type { Kind, StoredObject } from './kind.ts';
import { type Cause, forbidden, requiredValue } from './refusal.ts';

/** Kept on every namespace so that its contents go first. (The real one has it in spec.finalizers.) */
export const NAMESPACE_FINALIZER = 'kubernetes';

type Fields = Record<string, unknown>;

const plain = {
  shortNames: [],
  categories: [],
  statusSubresource: false,
  custom: false,
  group: '',
  version: 'v1',
  namespaced: false,
};

/** The built-in kinds, as loosely typed as what uses the sandbox allows. */
export const BUILTIN_KINDS: Kind[] = [
  {
    ...plain,
    plural: 'namespaces',
    singular: 'namespace',
    kind: 'Namespace',
    shortNames: ['ns'],
    statusSubresource: true,
    prepare(object) {
      object.status = { phase: 'Active' };
      object.metadata.finalizers = [...(object.metadata.finalizers ?? []), NAMESPACE_FINALIZER];
      object.metadata.labels = {
        ...object.metadata.labels,
        'kubernetes.io/metadata.name': object.metadata.name,
      };
    },
  },
  { ...plain, ...NODES, singular: 'node', shortNames: ['no'], statusSubresource: true },
  {
    ...plain,
    ...PODS,
    singular: 'pod',
    shortNames: ['po'],
    categories: ['all'],
    statusSubresource: true,
    prepare: (object) => {
      object.status = { phase: 'Pending' };
    },
    validate: (object) => required(object.spec, 'spec', ['containers']),
  },
  {
    ...plain,
    ...PERSISTENT_VOLUMES,
    singular: 'persistentvolume',
    shortNames: ['pv'],
    statusSubresource: true,
    prepare(object) {
      object.spec = { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', ...specOf(object) };
      object.status = { phase: 'Pending' };
    },
    validate: (object) => [
      ...required(object.spec, 'spec', ['capacity', 'accessModes']),
      ...oneSource(object),
    ],
  },
  {
    ...plain,
    ...PERSISTENT_VOLUME_CLAIMS,
    singular: 'persistentvolumeclaim',
    shortNames: ['pvc'],
    statusSubresource: true,
    prepare(object) {
      object.spec = { volumeMode: 'Filesystem', ...specOf(object) };
      object.status = { phase: 'Pending' };
    },
    validate: (object) => required(object.spec, 'spec', ['accessModes', 'resources']),
  },
  {
    ...plain,
    ...EVENTS,
    singular: 'event',
    shortNames: ['ev'],
    validate: (object) => required(object, '', ['involvedObject']),
  },
  { ...plain, ...LEASES, singular: 'lease' },
  {
    ...plain,
    ...STORAGE_CLASSES,
    singular: 'storageclass',
    shortNames: ['sc'],
    prepare(object) {
      object.reclaimPolicy ??= 'Delete';
      object.volumeBindingMode ??= 'Immediate';
    },
    validate: (object) => required(object, '', ['provisioner']),
  },
  ...(['ConfigMap', 'Secret', 'ServiceAccount'] as const).map((kind) => stored('', kind, true)),
  ...(['Role', 'RoleBinding'] as const).map((kind) => stored('rbac.authorization.k8s.io', kind, true)),
  ...(['ClusterRole', 'ClusterRoleBinding'] as const).map((kind) =>
    stored('rbac.authorization.k8s.io', kind, false),
  ),
  { ...stored('apps', 'Deployment', true), shortNames: ['deploy'], statusSubresource: true },
];

/** A kind that is kept and means nothing here: nobody is refused anything, and nothing is run. */
function stored(group: string, kind: string, namespaced: boolean): Kind {
  const singular = kind.toLowerCase();
  return { ...plain, group, plural: `${singular}s`, singular, kind, namespaced };
}

const specOf = (object: StoredObject) => (object.spec ?? {}) as Fields;

function required(fields: unknown, path: string, names: string[]): Cause[] {
  const found = (fields ?? {}) as Fields;
  return names
    .filter((name) => found[name] === undefined || found[name] === '')
    .map((name) => requiredValue(path === '' ? name : `${path}.${name}`));
}

/** What a PersistentVolume's spec has beside its source. */
const NO_SOURCE = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
]);

function oneSource(object: StoredObject): Cause[] {
  const [source, second] = Object.keys(specOf(object)).filter((field) => !NO_SOURCE.has(field));
  if (source === undefined) return [requiredValue('spec', 'must specify a volume type')];
  return second === undefined ? [] : [forbidden(`spec.${second}`, 'may not specify more than 1 volume type')];
}
