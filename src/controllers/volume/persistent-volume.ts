import { accessModesOf, isReadOnlyShared } from '../../api/access-modes.ts';
import type { PersistentVolume } from '../../api/core.ts';
import {
  ATTACHED_NODES_ANNOTATION,
  DRIVER,
  PROTECTION_FINALIZER,
  PROVISIONED_BY_ANNOTATION,
  VOLUME_API_VERSION,
} from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import type { ClassOptions } from '../../model/class-options.ts';
import { nodeOf } from '../../model/desired-volume.ts';
import { isOnDemand } from './attached.ts';

/**
 * The PersistentVolume of a Volume that was made, as MetalK8s shapes it. Its record of where it is attached begins with what
 * the making of it left.
 */
export function buildPv(volume: Volume, options: ClassOptions): PersistentVolume {
  const { template, attachableNodes } = volume.spec;
  const readOnly = isReadOnlyShared(volume.spec);
  const mountOptions = withReadOnly(options, readOnly);
  const { labels, annotations } = template?.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: volume.metadata.name,
      ...(labels === undefined ? {} : { labels }),
      annotations: {
        ...annotations,
        [ATTACHED_NODES_ANNOTATION]: JSON.stringify(isOnDemand(volume) ? [] : [nodeOf(volume)]),
      },
      // Ours alone: a finalizer of the template's would hold the PersistentVolume back for ever.
      finalizers: [PROTECTION_FINALIZER],
      ownerReferences: [
        {
          apiVersion: VOLUME_API_VERSION,
          kind: 'Volume',
          name: volume.metadata.name,
          uid: volume.metadata.uid ?? '',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      ...template?.spec,
      capacity: { storage: volume.status?.capacity ?? '0' },
      accessModes: readOnly ? ['ReadOnlyMany'] : modesOf(volume),
      // Who makes volumes for claims deletes them, too.
      persistentVolumeReclaimPolicy:
        isProvisioned(volume) && template?.spec?.persistentVolumeReclaimPolicy === 'Delete'
          ? 'Delete'
          : 'Retain',
      storageClassName: volume.spec.storageClassName,
      volumeMode: volume.spec.mode ?? 'Filesystem',
      ...(mountOptions.length === 0 ? {} : { mountOptions }),
      local: {
        path: volume.status?.devicePath ?? '',
        // Without it the kubelet takes ext4 for what is meant, and mounts nothing else (mount-utils, formatAndMountSensitive).
        ...(options.fs === undefined ? {} : { fsType: options.fs.type }),
      },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                {
                  key: 'kubernetes.io/hostname',
                  operator: 'In',
                  values: attachableNodes == null ? [nodeOf(volume)] : [...attachableNodes],
                },
              ],
            },
          ],
        },
      },
    },
  };
}

/** It was made for a claim, which is in its template, and not for whoever may have it. */
const isProvisioned = ({ spec: { template } }: Volume): boolean =>
  template?.metadata?.annotations?.[PROVISIONED_BY_ANNOTATION] === DRIVER;

/**
 * A device is written from one node; more is never promised, whatever the template says. A claim is bound only to what has
 * all the modes that it asks for, and those that are left are kept by the node affinity.
 */
function modesOf(volume: Volume): string[] {
  const kept = isProvisioned(volume) ? accessModesOf(volume.spec) : [];
  const modes = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadOnlyMany'].filter((mode) =>
    kept.includes(mode),
  );
  return modes.length === 0 ? ['ReadWriteOnce'] : modes;
}

/** A device that cannot be written to cannot be mounted otherwise. In mode Block nothing is mounted. */
function withReadOnly({ fs, mountOptions }: ClassOptions, readOnly: boolean): string[] {
  return readOnly && fs !== undefined
    ? [...mountOptions.filter((option) => option !== 'rw' && option !== 'ro'), 'ro']
    : mountOptions;
}

/** The Volume with the path of its PersistentVolume on record, where its status was lost or is MetalK8s's, which has none. */
export function withPathOf(pv: PersistentVolume | undefined, volume: Volume): Volume {
  const devicePath = pv?.spec.local?.path;
  if (devicePath === undefined || volume.status?.devicePath !== undefined) return volume;
  return { ...volume, status: { ...volume.status, devicePath } };
}

/** Nothing holds it but us, and no claim has it: MetalK8s's rule. */
export function isUnused(pv: PersistentVolume): boolean {
  const phase = pv.status?.phase;
  const others = pv.metadata.finalizers?.filter((name) => name !== PROTECTION_FINALIZER) ?? [];
  return (
    (phase === 'Available' || phase === 'Released' || phase === 'Failed') && others.length === 0
  );
}

/** Why a PersistentVolume that is being deleted is still there. */
export function whatHolds(pv: PersistentVolume): string {
  const { claimRef } = pv.spec;
  if (pv.status?.phase === 'Bound') {
    return `it is bound to the claim ${claimRef?.namespace}/${claimRef?.name}`;
  }
  const others = pv.metadata.finalizers?.filter((name) => name !== PROTECTION_FINALIZER) ?? [];
  return others.length > 0
    ? `finalizers of others hold it: ${others.join(', ')}`
    : `its phase is ${pv.status?.phase ?? 'not set'}`;
}
