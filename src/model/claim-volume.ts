import type { PersistentVolumeClaim } from '../api/core.ts';
import { DRIVER, PROVISIONED_BY_ANNOTATION, VOLUME_API_VERSION } from '../api/names.ts';
import type { Volume, VolumeSpec } from '../api/volume.ts';
import { FREE_EXTENTS } from '../storage/lvm/content.ts';
import type { DynamicClass } from './dynamic-class.ts';

const PREFIX = 'pvc-';

/** The Volume of a claim, and so its PersistentVolume, as external-provisioner names them. */
export const volumeNameOf = ({
  metadata: { uid = '' },
}: Pick<PersistentVolumeClaim, 'metadata'>): string => `${PREFIX}${uid}`;

/** The claim that a Volume was made for, if any: by what it says itself, for anyone may name a Volume so. */
export function claimOf(
  volume: Volume,
): { namespace: string; name: string; uid: string } | undefined {
  const { metadata, spec } = volume.spec.template ?? {};
  const { namespace, name, uid } = (spec?.claimRef ?? {}) as Record<string, unknown>;
  if (metadata?.annotations?.[PROVISIONED_BY_ANNOTATION] !== DRIVER) return undefined;
  if (typeof namespace !== 'string' || typeof name !== 'string' || typeof uid !== 'string')
    return undefined;
  return volume.metadata.name === `${PREFIX}${uid}` ? { namespace, name, uid } : undefined;
}

/** The Volume that a claim gets. Its spec says all that its PersistentVolume is to have. `source`: what it starts from. */
export function claimVolume(
  claim: PersistentVolumeClaim,
  { place, directory, onDelete, wipe, attachPolicy }: DynamicClass,
  nodeName: string,
  source: VolumeSpec['source'],
): Volume {
  const { namespace, name, uid } = claim.metadata;
  const { storageClassName = '', volumeMode, accessModes, resources } = claim.spec;
  const size = resources?.requests?.storage ?? '0';
  return {
    apiVersion: VOLUME_API_VERSION,
    kind: 'Volume',
    metadata: { name: volumeNameOf(claim) },
    spec: {
      nodeName,
      storageClassName,
      mode: volumeMode === 'Block' ? 'Block' : 'Filesystem',
      ...(place.type === 'sparse'
        ? {
            sparseLoopDevice: {
              size,
              ...(directory === undefined ? {} : { directory }),
              ...(place.requireMount && { requireMount: true }),
            },
          }
        : {
            lvmLogicalVolume: {
              vgName: place.vgName,
              size,
              ...(place.thinPool === undefined ? {} : { thinPool: place.thinPool }),
            },
            ...(place.overwrite ? { overwrite: FREE_EXTENTS } : {}),
          }),
      onDelete: onDelete === 'Delete' && wipe ? 'Wipe' : onDelete,
      ...(attachPolicy === undefined ? {} : { attachPolicy }),
      template: {
        metadata: { annotations: { [PROVISIONED_BY_ANNOTATION]: DRIVER } },
        spec: {
          claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
          accessModes: accessModes ?? ['ReadWriteOnce'],
          persistentVolumeReclaimPolicy: onDelete,
        },
      },
      ...(source === undefined ? {} : { source }),
    },
  };
}
