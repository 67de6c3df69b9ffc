import type { PersistentVolumeClaim } from '../api/core.ts';
import { DRIVER, PROVISIONED_BY_ANNOTATION, VOLUME_API_VERSION } from '../api/names.ts';
import type { Volume, VolumeSpec } from '../api/volume.ts';
import { FREE_EXTENTS } from '../storage/lvm/content.ts';
import type { DynamicClass } from './dynamic-class.ts';

const PREFIX = 'pvc-';

/** Returns the name of a claim's Volume and PersistentVolume, as external-provisioner builds it. */
export const volumeNameOf = ({
  metadata: { uid = '' },
}: Pick<PersistentVolumeClaim, 'metadata'>): string => `${PREFIX}${uid}`;

/**
 * Returns the claim for which a Volume was created, if any. The name alone is no proof: the
 * Volume's template must name the claim too.
 */
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

/** Returns the Volume for a claim. The Volume's spec defines its PersistentVolume. */
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
