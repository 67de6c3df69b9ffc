import type { PersistentVolumeClaim } from '../../api/core.ts';
import { DRIVER } from '../../api/names.ts';
import { formatBytes, parseQuantity } from '../../api/quantity.ts';
import { type Refused, refuse } from '../../api/reasons.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../api/snapshot.ts';
import { modeOf, requestOf } from './request.ts';
import type { Awaited, Held } from './types.ts';

export interface UsableSnapshot {
  contentName: string;
  /** Bytes; 0 if the size is unknown. */
  restoreSizeBytes: bigint;
}

/**
 * Checks whether a claim can start from a snapshot, as external-provisioner does, in its order
 * (getSnapshotSource). `content`: the content in the snapshot's status, if it exists. Pure.
 */
export function checkSnapshot(
  snapshot: VolumeSnapshot,
  content: VolumeSnapshotContent | undefined,
  claim: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>,
): { usable: UsableSnapshot } | Held {
  const { namespace = '', name, uid } = snapshot.metadata;
  const { status } = snapshot;
  const [kind, source] = ['VolumeSnapshot', `${namespace}/${name}`];
  const contentName = status?.boundVolumeSnapshotContentName;
  const on: Awaited[] = [
    { kind: 'VolumeSnapshot', namespace, name },
    ...(contentName ? [{ kind: 'VolumeSnapshotContent', name: contentName } as const] : []),
  ];
  const wait = (refused: Refused): Held => ({ wait: { ...refused, on } });
  const never = (refused: Refused): Held => ({ refuse: { ...refused, on } });

  if (snapshot.metadata.deletionTimestamp !== undefined)
    return wait(refuse('SourceBeingDeleted', { kind, source }));
  if (!contentName) return wait(withError(refuse('SnapshotUnbound', { source }), snapshot));
  if (content === undefined)
    return wait(refuse('SourceContentMissing', { source, content: contentName }));
  const { volumeSnapshotRef, driver } = content.spec;
  if (
    volumeSnapshotRef.namespace !== namespace ||
    volumeSnapshotRef.name !== name ||
    volumeSnapshotRef.uid !== uid
  ) {
    return wait(refuse('SourceContentOfAnother', { content: contentName, source }));
  }
  if (driver !== DRIVER) {
    const { storageClassName = '' } = claim.spec;
    return never(refuse('SnapshotForeign', { source, driver, class: storageClassName }));
  }
  if (status?.readyToUse !== true)
    return wait(withError(refuse('SnapshotNotReady', { source }), snapshot));
  if (!content.status?.snapshotHandle)
    return wait(refuse('SnapshotHandleMissing', { content: contentName, source }));
  const restoreSizeBytes = restoreSizeOf(snapshot, content);
  const asked = requestOf(claim);
  if (asked < restoreSizeBytes) {
    const size = formatBytes(restoreSizeBytes);
    return never(refuse('SmallerThanSnapshot', { asked: formatBytes(asked), source, size }));
  }
  const mode = content.spec.sourceVolumeMode;
  if (mode && mode !== modeOf(claim)) {
    return never(refuse('ModeDiffers', { asked: modeOf(claim), kind, source, mode }));
  }
  return { usable: { contentName, restoreSizeBytes } };
}

/** Returns the size of the content, which is the restored object; the snapshot repeats the size. */
function restoreSizeOf(snapshot: VolumeSnapshot, content: VolumeSnapshotContent): bigint {
  const { restoreSize } = content.status ?? {};
  return restoreSize === undefined
    ? parseQuantity(snapshot.status?.restoreSize ?? '0')
    : BigInt(restoreSize);
}

/** Adds the error in the snapshot's status. */
const withError = (refused: Refused, { status }: VolumeSnapshot): Refused =>
  status?.error?.message
    ? { ...refused, refusal: `${refused.refusal}: ${status.error.message}` }
    : refused;
