import type { AnyEvent, PersistentVolume, PersistentVolumeClaim } from '../../../api/core.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
} from '../../../api/resources.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../../api/snapshot.ts';
import { listAll } from '../../../kube/client.ts';
import { eventsOf } from '../../lib/objects/events.ts';
import type { ReadClient } from '../../lib/objects/related.ts';
import { foundIn, type Reading, reading, readNamed } from '../../lib/read-result.ts';

export interface SnapshotFacts {
  snapshot: VolumeSnapshot;
  /** Content of the snapshot, or the one being created for it. */
  content: Reading<VolumeSnapshotContent>;
  /** Source of the snapshot, and the volume of that claim. */
  claim: Reading<PersistentVolumeClaim>;
  pv: Reading<PersistentVolume>;
  classes: Reading<VolumeSnapshotClass[]>;
  /** Oldest first. */
  events: Reading<AnyEvent[]>;
}

/** Reads a snapshot's facts. Throws a StowageError; a refusal stands for an unreadable object. */
export async function readSnapshot(
  snapshot: VolumeSnapshot,
  client: ReadClient,
  signal: AbortSignal,
): Promise<SnapshotFacts> {
  const { namespace = '', name, uid } = snapshot.metadata;
  const { source } = snapshot.spec;
  const contentName =
    snapshot.status?.boundVolumeSnapshotContentName ??
    source.volumeSnapshotContentName ??
    `snapcontent-${uid}`;
  const claim = await readNamed<PersistentVolumeClaim>(
    client,
    PERSISTENT_VOLUME_CLAIMS,
    source.persistentVolumeClaimName,
    { namespace, signal },
  );
  const { volumeName } = foundIn(claim)?.spec ?? {};
  const classes = listAll<VolumeSnapshotClass>(client, VOLUME_SNAPSHOT_CLASSES, { signal });
  const events = await reading(eventsOf(client, { namespace, name, uid }, signal));
  return {
    snapshot,
    content: await readNamed<VolumeSnapshotContent>(client, VOLUME_SNAPSHOT_CONTENTS, contentName, {
      signal,
    }),
    claim,
    pv: await readNamed<PersistentVolume>(client, PERSISTENT_VOLUMES, volumeName, { signal }),
    classes: await reading(classes.then(({ items }) => items)),
    events: 'found' in events ? { found: events.found.events } : events,
  };
}
