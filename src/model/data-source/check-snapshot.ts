import type { PersistentVolumeClaim } from '../../api/core.ts';
import { DRIVER } from '../../api/names.ts';
import { formatBytes, parseQuantity } from '../../api/quantity.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../api/snapshot.ts';
import { modeOf, requestOf } from './request.ts';
import type { Awaited, Held, ObstacleReason } from './types.ts';

export interface UsableSnapshot {
  contentName: string;
  /** Bytes; 0 where nobody says how large it is. */
  restoreSizeBytes: bigint;
}

/**
 * Whether a claim can start from a snapshot, by what external-provisioner checks and in its order (getSnapshotSource). `content`:
 * the one that the snapshot's status names, if there is such an object. Pure.
 */
export function checkSnapshot(
  snapshot: VolumeSnapshot,
  content: VolumeSnapshotContent | undefined,
  claim: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>,
): { usable: UsableSnapshot } | Held {
  const { namespace = '', name, uid } = snapshot.metadata;
  const { status } = snapshot;
  const what = `VolumeSnapshot ${namespace}/${name}`;
  const contentName = status?.boundVolumeSnapshotContentName;
  const on: Awaited[] = [
    { kind: 'VolumeSnapshot', namespace, name },
    ...(contentName ? [{ kind: 'VolumeSnapshotContent', name: contentName } as const] : []),
  ];
  const wait = (reason: ObstacleReason, message: string): Held => ({
    wait: { reason, message, on },
  });
  const refuse = (reason: ObstacleReason, message: string): Held => ({
    refuse: { reason, message, on },
  });

  if (snapshot.metadata.deletionTimestamp !== undefined)
    return wait('BeingDeleted', `${what} is being deleted`);
  if (!contentName)
    return wait('NotBound', `${what} is not bound to a content${errorOf(snapshot)}`);
  if (content === undefined) {
    return wait(
      'NotBound',
      `${what} is bound to VolumeSnapshotContent ${contentName}, which does not exist`,
    );
  }
  const { volumeSnapshotRef, driver } = content.spec;
  if (
    volumeSnapshotRef.namespace !== namespace ||
    volumeSnapshotRef.name !== name ||
    volumeSnapshotRef.uid !== uid
  ) {
    return wait(
      'BoundToAnother',
      `VolumeSnapshotContent ${contentName} of ${what} is bound to another snapshot`,
    );
  }
  if (driver !== DRIVER) {
    return refuse(
      'OtherDriver',
      `${what} was taken by ${driver}, and storage class ${claim.spec.storageClassName ?? ''} is of ${DRIVER}`,
    );
  }
  if (status?.readyToUse !== true)
    return wait('NotReady', `${what} is not ready${errorOf(snapshot)}`);
  if (!content.status?.snapshotHandle) {
    return wait(
      'NotReady',
      `VolumeSnapshotContent ${contentName} of ${what} has no snapshot handle yet`,
    );
  }
  const restoreSizeBytes = restoreSizeOf(snapshot, content);
  const asked = requestOf(claim);
  if (asked < restoreSizeBytes) {
    return refuse(
      'TooSmall',
      `the claim asks for ${formatBytes(asked)}, and ${what} needs ${formatBytes(restoreSizeBytes)}`,
    );
  }
  const mode = content.spec.sourceVolumeMode;
  if (mode && mode !== modeOf(claim)) {
    return refuse(
      'ModeChange',
      `the claim asks for volume mode ${modeOf(claim)}, and ${what} is of mode ${mode}`,
    );
  }
  return { usable: { contentName, restoreSizeBytes } };
}

/** Of the content, which is what is restored from; the snapshot repeats it. */
function restoreSizeOf(snapshot: VolumeSnapshot, content: VolumeSnapshotContent): bigint {
  const { restoreSize } = content.status ?? {};
  return restoreSize === undefined
    ? parseQuantity(snapshot.status?.restoreSize ?? '0')
    : BigInt(restoreSize);
}

const errorOf = ({ status }: VolumeSnapshot): string =>
  status?.error?.message ? `: ${status.error.message}` : '';
