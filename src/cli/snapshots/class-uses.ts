import { DEFAULT_SNAPSHOT_CLASS_ANNOTATION, DRIVER } from '../../api/names.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../api/snapshot.ts';
import { refersTo } from '../../controllers/lib/snapshot-content.ts';

/** Snapshots and contents, some of which use a class. */
export interface SnapshotUses {
  snapshots: readonly VolumeSnapshot[];
  contents: readonly VolumeSnapshotContent[];
}

/** Reports whether the class is of Stowage's driver. */
export const isOwn = ({ driver }: VolumeSnapshotClass): boolean => driver === DRIVER;

/** Reports whether snapshots without a class get this one. */
export const isDefault = ({ metadata: { annotations } }: VolumeSnapshotClass): boolean =>
  annotations?.[DEFAULT_SNAPSHOT_CLASS_ANNOTATION] === 'true';

/**
 * Returns the snapshots that need a class, as `NAMESPACE/NAME`, sorted. Without its class, no
 * content is created for a snapshot. A class with `frozenCopySeconds` is needed until the snapshot
 * is taken: without it, no file is copied while a pod uses its volume. Pure.
 */
export function waitingFor(
  { metadata: { name }, parameters }: VolumeSnapshotClass,
  { snapshots, contents }: SnapshotUses,
): string[] {
  return snapshots
    .filter(({ metadata, spec, status }) => {
      const isDynamic = spec.source.persistentVolumeClaimName !== undefined;
      const isDone = metadata.deletionTimestamp !== undefined || status?.readyToUse;
      return isDynamic && !isDone && spec.volumeSnapshotClassName === name;
    })
    .filter((snapshot) => {
      const content = contents.find((each) => refersTo(each, snapshot));
      return content === undefined
        ? snapshot.status?.boundVolumeSnapshotContentName === undefined
        : parameters?.frozenCopySeconds !== undefined && isBeingTaken(content);
    })
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    .toSorted();
}

/** Reports whether Stowage still creates the storage of a content. */
const isBeingTaken = ({ spec, status }: VolumeSnapshotContent): boolean =>
  spec.driver === DRIVER && !status?.readyToUse;

/** Returns the number of contents that were created by the class, and stay without it. Pure. */
export const contentsOf = (
  { metadata, driver }: VolumeSnapshotClass,
  { contents }: SnapshotUses,
): number =>
  contents.filter(
    ({ spec }) => spec.volumeSnapshotClassName === metadata.name && spec.driver === driver,
  ).length;
