import { apiVersionOf } from '../../api/meta.ts';
import { DRIVER, SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import { VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS } from '../../api/resources.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';

/** As the standard snapshot-controller names the content that it makes for a snapshot of a claim. */
export const dynamicName = (snapshotUid: string): string => `snapcontent-${snapshotUid}`;

/** The content that a snapshot has, is to have, or asks for; undefined where its spec says nothing. */
export function contentNameOf({ metadata, spec, status }: VolumeSnapshot): string | undefined {
  const { persistentVolumeClaimName, volumeSnapshotContentName } = spec.source;
  return (
    status?.boundVolumeSnapshotContentName ??
    volumeSnapshotContentName ??
    (persistentVolumeClaimName === undefined ? undefined : dynamicName(metadata.uid ?? ''))
  );
}

/** It refers to this very snapshot, and not to an earlier one of its name. */
export const refersTo = (content: VolumeSnapshotContent, snapshot: VolumeSnapshot): boolean =>
  mayReferTo(content, snapshot) && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid;

/** The same, or it was made by hand, for a snapshot of that name. */
export function mayReferTo({ spec }: VolumeSnapshotContent, { metadata }: VolumeSnapshot): boolean {
  const { namespace, name, uid } = spec.volumeSnapshotRef;
  return (
    namespace === metadata.namespace && name === metadata.name && (!uid || uid === metadata.uid)
  );
}

/** What the standard snapshot-controller would make, whose binding goes by the name and a full reference. */
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
