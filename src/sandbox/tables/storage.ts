import type { Column } from '../kind.ts';
import { AGE, accessModes, type Loose, orNone, text, wide } from './cells.ts';

const phase = (object: Loose) =>
  object.metadata.deletionTimestamp === undefined ? object.status?.phase : 'Terminating';
const attributesClass = text(
  'VolumeAttributesClass',
  ({ spec }) => spec.volumeAttributesClassName ?? '<unset>',
);
const volumeMode = wide(text('VolumeMode', ({ spec }) => spec.volumeMode ?? '<unset>'));

export const VOLUME_COLUMNS: Column[] = [
  text('Capacity', ({ spec }) => spec.capacity?.storage ?? '0'),
  text('Access Modes', ({ spec }) => accessModes(spec.accessModes)),
  text('Reclaim Policy', ({ spec }) => spec.persistentVolumeReclaimPolicy),
  text('Status', phase),
  text('Claim', ({ spec: { claimRef } }) =>
    claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`,
  ),
  text('StorageClass', ({ spec }) => spec.storageClassName ?? ''),
  attributesClass,
  text('Reason', ({ status }) => status?.reason ?? ''),
  AGE,
  volumeMode,
];

export const CLAIM_COLUMNS: Column[] = [
  text('Status', phase),
  text('Volume', ({ spec }) => spec.volumeName ?? ''),
  text('Capacity', ({ spec, status }) =>
    spec.volumeName ? (status?.capacity?.storage ?? '0') : '',
  ),
  text('Access Modes', ({ spec, status }) =>
    spec.volumeName ? accessModes(status?.accessModes) : '',
  ),
  text('StorageClass', ({ spec }) => spec.storageClassName ?? ''),
  attributesClass,
  AGE,
  volumeMode,
];

const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** Returns the name of a StorageClass, the only kind whose name column shows more. */
export function className({ metadata }: Loose): string {
  const isDefault = DEFAULT_CLASS.some(
    (annotation) => metadata.annotations?.[annotation] === 'true',
  );
  return isDefault ? `${metadata.name} (default)` : metadata.name;
}

export const CLASS_COLUMNS: Column[] = [
  text('Provisioner', ({ provisioner }) => provisioner),
  text('ReclaimPolicy', ({ reclaimPolicy }) => reclaimPolicy),
  text('VolumeBindingMode', ({ volumeBindingMode }) => volumeBindingMode),
  text('AllowVolumeExpansion', ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false),
  AGE,
];

export const DRIVER_COLUMNS: Column[] = [
  flag('AttachRequired'),
  flag('PodInfoOnMount'),
  flag('StorageCapacity'),
  text('TokenRequests', ({ spec }) =>
    spec.tokenRequests === undefined
      ? '<unset>'
      : spec.tokenRequests.map(({ audience }: Loose) => audience).join(','),
  ),
  flag('RequiresRepublish'),
  text('Modes', ({ spec }) => orNone((spec.volumeLifecycleModes ?? []).join(','))),
  AGE,
];

function flag(name: string): Column {
  const field = `${name[0]?.toLowerCase()}${name.slice(1)}`;
  return { name, type: 'boolean', cell: ({ spec }: Loose) => spec[field] };
}
