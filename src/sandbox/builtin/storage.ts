import { isDeepStrictEqual } from 'node:util';
import { parseQuantity } from '../../api/quantity.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '../../api/resources.ts';
import type { Kind, StoredObject } from '../kind.ts';
import { type Cause, forbidden, invalidValue, requiredValue } from '../refusal.ts';
import { admitGrowth, claimChanges, claimSize } from './claim.ts';
import { decodeQuantities } from './decode.ts';
import { type Fields, immutable, noUpdate, oneOf, plain, required, specOf } from './plain.ts';
import { fill } from './pod-defaults.ts';

const ACCESS_MODES = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

/** Which keep what is in use. */
export const PV_PROTECTION = 'kubernetes.io/pv-protection';
export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection';

/** The admission plugin StorageObjectInUseProtection. */
function protect({ metadata }: StoredObject, finalizer: string): void {
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
}

export const STORAGE_KINDS: Kind[] = [
  {
    ...plain,
    ...PERSISTENT_VOLUMES,
    singular: 'persistentvolume',
    shortNames: ['pv'],
    statusSubresource: true,
    fillDefaults(object) {
      decodeQuantities(object, specOf(object).capacity);
      object.spec = { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', ...specOf(object) };
      fill(specOf(object).hostPath, { type: '' });
    },
    prepare(object) {
      object.status = { phase: 'Pending' };
      protect(object, PV_PROTECTION);
    },
    validate: (object, old) => [...volumeCauses(object), ...(old ? volumeChanges(object, old) : [])],
  },
  {
    ...plain,
    ...PERSISTENT_VOLUME_CLAIMS,
    singular: 'persistentvolumeclaim',
    shortNames: ['pvc'],
    statusSubresource: true,
    fillDefaults(object) {
      decodeQuantities(object, (specOf(object).resources as Fields | undefined)?.requests);
      object.spec = { volumeMode: 'Filesystem', ...specOf(object) };
    },
    prepare(object) {
      object.status = { phase: 'Pending' };
      protect(object, CLAIM_PROTECTION);
    },
    validate: (object, old) => [...claimCauses(object), ...(old ? claimChanges(object, old) : [])],
    admit: admitGrowth,
  },
  {
    ...plain,
    ...STORAGE_CLASSES,
    singular: 'storageclass',
    shortNames: ['sc'],
    fillDefaults(object) {
      object.reclaimPolicy ??= 'Delete';
      object.volumeBindingMode ??= 'Immediate';
    },
    validate: (object, old) => [
      ...required(object, '', ['provisioner']),
      ...oneOf(object.reclaimPolicy, 'reclaimPolicy', ['Delete', 'Retain']),
      ...oneOf(object.volumeBindingMode, 'volumeBindingMode', ['Immediate', 'WaitForFirstConsumer']),
      ...(old ? classChanges(object, old) : []),
    ],
  },
];

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

const sourceOf = (object: StoredObject) =>
  Object.fromEntries(Object.entries(specOf(object)).filter(([field]) => !NO_SOURCE.has(field)));

function volumeCauses(object: StoredObject): Cause[] {
  const spec = specOf(object);
  const [source, second] = Object.keys(sourceOf(object));
  const { storage } = (spec.capacity ?? {}) as { storage?: string };
  return [
    ...required(spec, 'spec', ['capacity', 'accessModes']),
    ...(spec.capacity === undefined
      ? []
      : positive(storage === undefined ? undefined : parseQuantity(storage), 'spec.capacity[storage]')),
    ...modes(spec),
    ...oneOf(spec.persistentVolumeReclaimPolicy, 'spec.persistentVolumeReclaimPolicy', [
      'Delete',
      'Recycle',
      'Retain',
    ]),
    ...(source === undefined ? [requiredValue('spec', 'must specify a volume type')] : []),
    ...(second === undefined ? [] : [forbidden(`spec.${second}`, 'may not specify more than 1 volume type')]),
    ...(source === 'local' && spec.nodeAffinity === undefined
      ? [requiredValue('spec.nodeAffinity', 'Local volume requires node affinity')]
      : []),
  ];
}

function positive(size: bigint | undefined, path: string): Cause[] {
  if (size === undefined) return [requiredValue(path)];
  return size > 0n ? [] : [invalidValue(path, JSON.stringify(String(size)), 'must be greater than zero')];
}

function modes({ accessModes, volumeMode }: Fields): Cause[] {
  const given = Array.isArray(accessModes) ? accessModes : [];
  return [
    ...given.flatMap((mode) => oneOf(mode, 'spec.accessModes', ACCESS_MODES)),
    ...oneOf(volumeMode, 'spec.volumeMode', VOLUME_MODES),
  ];
}

/** ValidatePersistentVolumeUpdate, with its paths, which lack `spec`. */
function volumeChanges(object: StoredObject, old: StoredObject): Cause[] {
  const [spec, before] = [specOf(object), specOf(old)];
  return [
    ...(isDeepStrictEqual(sourceOf(object), sourceOf(old))
      ? []
      : [
          forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation'),
        ]),
    ...(spec.volumeMode === before.volumeMode ? [] : [immutable('volumeMode', spec.volumeMode)]),
    ...(before.nodeAffinity === undefined || isDeepStrictEqual(spec.nodeAffinity, before.nodeAffinity)
      ? []
      : [immutable('nodeAffinity', spec.nodeAffinity)]),
  ];
}

function claimCauses(object: StoredObject): Cause[] {
  const spec = specOf(object);
  return [
    ...required(spec, 'spec', ['accessModes', 'resources']),
    ...modes(spec),
    ...(spec.resources === undefined ? [] : positive(claimSize(object), 'spec.resources[storage]')),
  ];
}

function classChanges(object: StoredObject, old: StoredObject): Cause[] {
  const changed = (field: string) => !isDeepStrictEqual(object[field], old[field]);
  return [
    ...['parameters', 'provisioner', 'reclaimPolicy'].filter(changed).map(noUpdate),
    ...(changed('volumeBindingMode') ? [immutable('volumeBindingMode', object.volumeBindingMode)] : []),
  ];
}
