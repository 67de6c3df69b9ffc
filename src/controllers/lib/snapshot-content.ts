import { apiVersionOf } from '../../api/meta.ts';
import { DRIVER, SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import { VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';

/**
 * Returns the name that the standard snapshot-controller gives the content of a claim's snapshot.
 */
export const dynamicName = (snapshotUid: string): string => `snapcontent-${snapshotUid}`;

/**
 * Returns the name of the content that a snapshot has, will have, or requests; undefined if its
 * spec names no source.
 */
export function contentNameOf({ metadata, spec, status }: VolumeSnapshot): string | undefined {
  const { persistentVolumeClaimName, volumeSnapshotContentName } = spec.source;
  return (
    status?.boundVolumeSnapshotContentName ??
    volumeSnapshotContentName ??
    (persistentVolumeClaimName === undefined ? undefined : dynamicName(metadata.uid ?? ''))
  );
}

/** Reports whether the content refers to this very snapshot, not to an earlier one of its name. */
export const refersTo = (content: VolumeSnapshotContent, snapshot: VolumeSnapshot): boolean =>
  mayReferTo(content, snapshot) && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid;

/**
 * Reports whether the content refers to this snapshot, or was created manually for a snapshot of
 * its name.
 */
export function mayReferTo({ spec }: VolumeSnapshotContent, { metadata }: VolumeSnapshot): boolean {
  const { namespace, name, uid } = spec.volumeSnapshotRef;
  return (
    namespace === metadata.namespace && name === metadata.name && (!uid || uid === metadata.uid)
  );
}

/**
 * Returns the content that the standard snapshot-controller would create, which binds by name and
 * full reference.
 */
export function contentFor(
  snapshot: VolumeSnapshot,
  volume: Volume,
  snapshotClass: VolumeSnapshotClass,
): VolumeSnapshotContent {
  const { name, namespace = '', uid = '', resourceVersion } = snapshot.metadata;
  return {
    apiVersion: apiVersionOf(VOLUME_SNAPSHOT_CONTENTS),
    kind: VOLUME_SNAPSHOT_CONTENTS.kind,
    metadata: { name: dynamicName(uid), finalizers: [SNAPSHOT_FINALIZERS.content] },
    spec: {
      volumeSnapshotRef: {
        apiVersion: apiVersionOf(VOLUME_SNAPSHOTS),
        kind: VOLUME_SNAPSHOTS.kind,
        ...{ namespace, name, uid },
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
      deletionPolicy: snapshotClass.deletionPolicy,
      driver: DRIVER,
      source: { volumeHandle: volume.metadata.name },
      volumeSnapshotClassName: snapshotClass.metadata.name,
      sourceVolumeMode: volume.spec.mode ?? 'Filesystem',
    },
  };
}
