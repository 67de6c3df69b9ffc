import { accessModesOf, isReadOnlyShared } from '../../api/access-modes.ts';
import type { PersistentVolume } from '../../api/core.ts';
import {
  ATTACHED_NODES_ANNOTATION,
  DRIVER,
  HOSTNAME_LABEL,
  PROTECTION_FINALIZER,
  PROVISIONED_BY_ANNOTATION,
  VOLUME_API_VERSION,
} from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import type { ClassOptions } from '../../model/class-options.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { isOnDemand } from './attached.ts';

/**
 * Builds the PersistentVolume of a provisioned Volume, as MetalK8s shapes it. Its attached-nodes
 * annotation starts with the node where provisioning left the device attached, if any.
 * @param hostnames labels of the nodes that its affinity selects: it matches labels only, and not
 *   names (matchFields)
 */
export function buildPv(
  volume: Volume,
  options: ClassOptions,
  hostnames: readonly string[],
): PersistentVolume {
  const { template } = volume.spec;
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
      // Only Stowage's finalizer: one from the template would keep the PersistentVolume forever.
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
      // The provisioner of claims deletes its volumes, too.
      persistentVolumeReclaimPolicy:
        isProvisioned(volume) && template?.spec?.persistentVolumeReclaimPolicy === 'Delete'
          ? 'Delete'
          : 'Retain',
      storageClassName: volume.spec.storageClassName,
      volumeMode: volume.spec.mode ?? 'Filesystem',
      ...(mountOptions.length === 0 ? {} : { mountOptions }),
      local: {
        path: volume.status?.devicePath ?? '',
        // Without fsType the kubelet assumes ext4, and mounts nothing else (mount-utils,
        // formatAndMountSensitive).
        ...(options.fs === undefined ? {} : { fsType: options.fs.type }),
      },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                {
                  key: HOSTNAME_LABEL,
                  operator: 'In',
                  values: [...hostnames],
                },
              ],
            },
          ],
        },
      },
    },
  };
}

/** Reports whether the Volume was provisioned for a claim, which its template names. */
const isProvisioned = ({ spec: { template } }: Volume): boolean =>
  template?.metadata?.annotations?.[PROVISIONED_BY_ANNOTATION] === DRIVER;

/**
 * Returns the access modes. A device is written from one node, so ReadWriteMany is never offered. A
 * provisioned volume keeps its other modes, since a claim binds only to a volume with all modes
 * that it requests. The node affinity enforces them.
 */
function modesOf(volume: Volume): string[] {
  const kept = isProvisioned(volume) ? accessModesOf(volume.spec) : [];
  const modes = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadOnlyMany'].filter((mode) =>
    kept.includes(mode),
  );
  return modes.length === 0 ? ['ReadWriteOnce'] : modes;
}

/**
 * Returns the mount options: a read-only device can only be mounted `ro`. Mode Block mounts
 * nothing.
 */
function withReadOnly({ fs, mountOptions }: ClassOptions, readOnly: boolean): string[] {
  return readOnly && fs !== undefined
    ? [...mountOptions.filter((option) => option !== 'rw' && option !== 'ro'), 'ro']
    : mountOptions;
}

/**
 * Returns the Volume with the path of its PersistentVolume, if its status was lost or is
 * MetalK8s's, which has no path.
 */
export function withPathOf(pv: PersistentVolume | undefined, volume: Volume): Volume {
  const devicePath = pv?.spec.local?.path;
  if (devicePath === undefined || volume.status?.devicePath !== undefined) return volume;
  return { ...volume, status: { ...volume.status, devicePath } };
}

/** Reports whether no claim and no other finalizer holds the PersistentVolume: MetalK8s's rule. */
export function isUnused(pv: PersistentVolume): boolean {
  const phase = pv.status?.phase;
  const others = pv.metadata.finalizers?.filter((name) => name !== PROTECTION_FINALIZER) ?? [];
  return (
    (phase === 'Available' || phase === 'Released' || phase === 'Failed') && others.length === 0
  );
}

/** Returns why a PersistentVolume that is being deleted still exists. */
export function whatHolds(pv: PersistentVolume): string {
  const { claimRef } = pv.spec;
  if (pv.status?.phase === 'Bound') {
    return `it is bound to the claim ${claimRef?.namespace}/${claimRef?.name}`;
  }
  const others = pv.metadata.finalizers?.filter((name) => name !== PROTECTION_FINALIZER) ?? [];
  return others.length > 0
    ? `it has other finalizers: ${others.join(', ')}`
    : `its phase is ${pv.status?.phase ?? 'not set'}`;
}
