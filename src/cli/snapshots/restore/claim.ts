import type { DataSourceReference, PersistentVolumeClaim } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import { SNAPSHOT_GROUP } from '../../../api/names.ts';
import { formatBytes, parseQuantity } from '../../../api/quantity.ts';
import type { RestoreFlags } from './flags.ts';
import type { Origin } from './origin.ts';

/** Snapshot to restore, and claim to create. */
export interface Wanted {
  snapshot: { namespace: string; name: string };
  claim: { namespace: string; name: string };
}

export const isAcross = ({ snapshot, claim }: Wanted): boolean =>
  snapshot.namespace !== claim.namespace;

/** Returns a reference to the snapshot, with its namespace if that is another one. */
export const toSnapshot = (wanted: Wanted): DataSourceReference => ({
  apiGroup: SNAPSHOT_GROUP,
  kind: 'VolumeSnapshot',
  name: wanted.snapshot.name,
  ...(isAcross(wanted) ? { namespace: wanted.snapshot.namespace } : {}),
});

/** Returns a reference to the link of the claim's name. */
export const toLink = ({ claim }: Wanted): DataSourceReference => ({
  apiGroup: SNAPSHOT_GROUP,
  kind: 'VolumeSnapshotLink',
  name: claim.name,
});

/** Returns the new claim. Throws a StowageError `usage` if its size is missing or too small. */
export function claimOf(
  { snapshot, claim }: Wanted,
  dataSourceRef: DataSourceReference,
  flags: Pick<RestoreFlags, 'size' | 'storageClass' | 'accessMode' | 'mode'>,
  origin: Origin,
): PersistentVolumeClaim {
  const storageClassName = flags.storageClass ?? origin.storageClassName;
  const volumeMode = flags.mode ?? origin.volumeMode;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: claim,
    spec: {
      accessModes: flags.accessMode ?? ['ReadWriteOnce'],
      ...(storageClassName === undefined ? {} : { storageClassName }),
      ...(volumeMode === undefined ? {} : { volumeMode }),
      resources: {
        requests: { storage: sizeOf(`${snapshot.namespace}/${snapshot.name}`, flags.size, origin) },
      },
      dataSourceRef,
    },
  };
}

function sizeOf(
  snapshot: string,
  size: string | undefined,
  { sizeBytes, unknown }: Origin,
): string {
  if (size === undefined) {
    if (sizeBytes !== undefined) return formatBytes(sizeBytes);
    throw new StowageError(
      'usage',
      `--size is required: ${unknown ?? 'the size of the snapshot is not known'}`,
      {
        hint: `Set it to at least the size of the claim that VolumeSnapshot ${snapshot} was taken of.`,
      },
    );
  }
  if (sizeBytes !== undefined && parseQuantity(size) < sizeBytes) {
    throw new StowageError(
      'usage',
      `--size ${size} is too small: VolumeSnapshot ${snapshot} needs ${formatBytes(sizeBytes)}`,
    );
  }
  return size;
}

/** Reports whether a claim kept its reference: API servers drop unknown or disabled fields. */
export function isKept({ spec }: PersistentVolumeClaim, wanted: DataSourceReference): boolean {
  const { apiGroup, kind, name, namespace } = spec.dataSourceRef ?? { kind: '', name: '' };
  return (
    apiGroup === wanted.apiGroup &&
    kind === wanted.kind &&
    name === wanted.name &&
    (namespace ?? '') === (wanted.namespace ?? '')
  );
}
