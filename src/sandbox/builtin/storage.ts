import { isDeepStrictEqual } from 'node:util';
import { parseQuantity } from '../../api/quantity.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
} from '../../api/resources.ts';
import type { Cause, Kind, StoredObject } from '../kind.ts';
import { keyFaults, subdomainFaults } from '../objects/formats.ts';
import { forbidden, invalidValue, notSupported, requiredValue } from '../refusal.ts';
import { admitGrowth, claimChanges } from './claim.ts';
import { prepareSources, sourceCauses } from './claim-source.ts';
import { decodeQuantities } from './decode.ts';
import { type Fields, goCase, immutable, oneOf, plain, required, specOf } from './plain.ts';
import { fill } from './pod-defaults.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

/** Finalizers that protect objects in use. */
export const PV_PROTECTION = 'kubernetes.io/pv-protection';
export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection';

/** Adds a finalizer, as the admission plugin StorageObjectInUseProtection. */
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
      object.spec = {
        persistentVolumeReclaimPolicy: 'Retain',
        volumeMode: 'Filesystem',
        ...specOf(object),
      };
      fill(specOf(object).hostPath, { type: '' });
    },
    prepare(object) {
      object.status = {
        phase: 'Pending',
        lastPhaseTransitionTime: object.metadata.creationTimestamp,
      };
      protect(object, PV_PROTECTION);
    },
    validate: (object, old) => [
      ...volumeCauses(object),
      ...(old ? volumeChanges(object, old) : []),
    ],
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
    prepare(object, gates) {
      object.status = { phase: 'Pending' };
      prepareSources(specOf(object), undefined, gates);
      protect(object, CLAIM_PROTECTION);
    },
    prepareUpdate: (object, old, gates) => prepareSources(specOf(object), specOf(old), gates),
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
      ...keyFaults(String(object.provisioner || 'none').toLowerCase()).map((fault) =>
        invalidValue('provisioner', JSON.stringify(object.provisioner), fault),
      ),
      ...('' in ((object.parameters ?? {}) as Fields)
        ? [invalidValue('parameters', '""', 'field can not be empty.')]
        : []),
      ...oneOf(object.reclaimPolicy, 'reclaimPolicy', ['Delete', 'Retain']),
      ...oneOf(object.volumeBindingMode, 'volumeBindingMode', [
        'Immediate',
        'WaitForFirstConsumer',
      ]),
      ...(old ? classChanges(object, old) : []),
    ],
  },
];

/** Fields of a PersistentVolume's spec that are not its source. */
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
    ...required(spec, 'spec', ['accessModes']),
    ...modes(spec),
    ...required(spec, 'spec', ['capacity']),
    ...(storage === undefined || Object.keys(spec.capacity ?? {}).length > 1
      ? [notSupported('spec.capacity', spec.capacity ?? null, ['storage'])]
      : positive(storage, 'spec.capacity[storage]')),
    ...className(spec),
    ...localCauses(spec.local as { path?: string } | undefined),
    ...oneOf(spec.persistentVolumeReclaimPolicy, 'spec.persistentVolumeReclaimPolicy', [
      'Delete',
      'Recycle',
      'Retain',
    ]),
    ...(source === undefined ? [requiredValue('spec', 'must specify a volume type')] : []),
    ...(second === undefined
      ? []
      : [forbidden(`spec.${second}`, 'may not specify more than 1 volume type')]),
    ...(source === 'local' && spec.nodeAffinity === undefined
      ? [requiredValue('spec.nodeAffinity', 'Local volume requires node affinity')]
      : []),
  ];
}

function positive(size: string | undefined, path: string): Cause[] {
  if (size === undefined) return [requiredValue(path)];
  const bytes = parseQuantity(size);
  return [
    ...(bytes < 0n ? [invalidValue(path, String(bytes), 'must be a valid resource quantity')] : []),
    ...(bytes > 0n ? [] : [invalidValue(path, JSON.stringify(size), 'must be greater than zero')]),
  ];
}

function className({ storageClassName = '' }: Fields): Cause[] {
  if (storageClassName === '') return [];
  return subdomainFaults(String(storageClassName)).map((fault) =>
    invalidValue('spec.storageClassName', JSON.stringify(storageClassName), fault),
  );
}

function localCauses(local: { path?: string } | undefined): Cause[] {
  if (local === undefined) return [];
  const { path = '' } = local;
  if (path === '') return [requiredValue('spec.local.path')];
  const climbs = path.split('/').includes('..');
  return climbs
    ? [invalidValue('spec.local.path', JSON.stringify(path), "must not contain '..'")]
    : [];
}

function modes({ accessModes, volumeMode }: Fields): Cause[] {
  const given = Array.isArray(accessModes) ? accessModes : [];
  return [
    ...given.flatMap((mode) => oneOf(mode, 'spec.accessModes', ACCESS_MODES)),
    ...oneOf(volumeMode, 'spec.volumeMode', VOLUME_MODES),
  ];
}

/** Checks an update as ValidatePersistentVolumeUpdate, whose paths lack `spec`. */
function volumeChanges(object: StoredObject, old: StoredObject): Cause[] {
  const [spec, before] = [specOf(object), specOf(old)];
  return [
    ...(isDeepStrictEqual(sourceOf(object), sourceOf(old))
      ? []
      : [
          forbidden(
            'spec.persistentvolumesource',
            'spec.persistentvolumesource is immutable after creation',
          ),
        ]),
    ...(spec.volumeMode === before.volumeMode ? [] : [immutable('volumeMode', spec.volumeMode)]),
    ...(before.nodeAffinity === undefined ||
    isDeepStrictEqual(spec.nodeAffinity, before.nodeAffinity)
      ? []
      : [
          invalidValue(
            'nodeAffinity',
            JSON.stringify(goCase(spec.nodeAffinity)),
            'field is immutable, except for updating from beta label to GA',
          ),
        ]),
  ];
}

interface Requests {
  requests?: { storage?: string };
}

function claimCauses(object: StoredObject): Cause[] {
  const spec = specOf(object);
  return [
    ...(spec.accessModes === undefined
      ? [requiredValue('spec.accessModes', 'at least 1 access mode is required')]
      : []),
    ...modes(spec),
    ...positive(
      (spec.resources as Requests | undefined)?.requests?.storage,
      'spec.resources[storage]',
    ),
    ...className(spec),
    ...sourceCauses(spec),
  ];
}

function classChanges(object: StoredObject, old: StoredObject): Cause[] {
  const changed = (field: string) => !isDeepStrictEqual(object[field], old[field]);
  return [
    ...['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']
      .filter(changed)
      .map((field) => immutable(field, object[field])),
  ];
}
