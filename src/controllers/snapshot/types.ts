import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
import type { Explanation } from '../../api/reasons.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../api/snapshot.ts';
import type { SnapshotHandle } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';
import type { StorageLocation } from '../../model/dynamic-class.ts';
import type { Room } from '../lib/capacity/capacity-cache.ts';
import type { EventToSend } from '../lib/event.ts';
import type { JobNote } from './job-record.ts';
import type { ContentStatusFields, SnapshotStatusFields } from './status.ts';

/**
 * Provider of the common snapshot controller: this daemon, or the standard snapshot-controller
 * beside it.
 */
export type SnapshotMode = 'builtin' | 'external';

/** At most one action; without one, when to decide again if nothing changes before. */
export interface Decision<Action> {
  action?: Action;
  /** Running job: decide again once it has ended. */
  watch?: JobNote;
  /** Delay in ms. */
  requeueAfter?: number;
  /** Decide again with backoff. */
  retry?: true;
}

/** Input to a decision about one VolumeSnapshot, from caches. */
export interface SnapshotInput {
  snapshot: VolumeSnapshot;
  mode: SnapshotMode;
  /** Content with the name that `contentNameOf` returns. */
  content: VolumeSnapshotContent | undefined;
  /** The content by a live read in this reconcile; undefined without one. */
  liveContent: { found: VolumeSnapshotContent | undefined } | undefined;
  /** Claim named in the spec, with its PersistentVolume and the Volume of that name. */
  claim: PersistentVolumeClaim | undefined;
  pv: PersistentVolume | undefined;
  volume: Volume | undefined;
  /** All VolumeSnapshotClasses. */
  classes: readonly VolumeSnapshotClass[];
  /** Volumes being provisioned from the content. */
  restores: readonly Volume[];
}

/** Single effect, after which everything is read and decided again. */
export type SnapshotAction =
  | { do: 'add-finalizer'; finalizer: string }
  | { do: 'take-off-finalizers'; finalizers: readonly string[] }
  | { do: 'set-class'; name: string }
  /** Protects the claim while the snapshot is taken. */
  | { do: 'protect-claim'; claim: PersistentVolumeClaim }
  /** Creates the content only if a live read finds the snapshot, and it is not being deleted. */
  | { do: 'create-content'; content: VolumeSnapshotContent; event?: EventToSend }
  /** Reads the content from the API server. */
  | { do: 'read-content'; name: string }
  /** Writes the snapshot's UID into the reference of a content created by hand. */
  | { do: 'bind-content'; content: VolumeSnapshotContent }
  | { do: 'delete-content'; content: VolumeSnapshotContent }
  | { do: 'set-status'; fields: SnapshotStatusFields; event?: EventToSend };

/** Facts about a node. */
export interface NodeFacts {
  /** A Node object of that name exists. */
  exists: boolean;
  ready: boolean;
  /** The Node has the out-of-service taint and is not Ready. */
  off: boolean;
  paused: boolean;
  /** This process manages the node. */
  ours: boolean;
}

/** Outcome of a job or an observation on a node, or why it is unknown. */
export type Outcome =
  /**
   * The copy is complete. `sizeBytes` is the volume's size; `takenAt` is in ms since the epoch, if
   * known.
   */
  | { is: 'whole'; sizeBytes: number; takenAt?: number | undefined }
  /** No part of the copy exists; also after a deletion. */
  | { is: 'absent' }
  | { is: 'running' }
  /** Nothing was done, for the reason given. A retry may succeed. */
  | (Explanation & { is: 'refused' })
  /**
   * The job failed. The next job first removes the `leftBytes` that this one left, and thaws the
   * volume if `isFrozen`.
   */
  | (Explanation & { is: 'failed'; leftBytes?: bigint; isFrozen?: true })
  /** The state on the node is unknown. */
  | (Explanation & { is: 'unknown' });

/** Input to a decision about one VolumeSnapshotContent of this driver. */
export interface ContentInput {
  content: VolumeSnapshotContent;
  /** Volume that the content names; undefined if it is gone or another Volume has the name. */
  volume: Volume | undefined;
  /**
   * Place of the copy and the node that makes it, or why none is possible; undefined without a
   * Volume.
   */
  place: { node: string; handle: SnapshotHandle } | Explanation | undefined;
  /** VolumeSnapshot that the content refers to, with a matching UID. */
  snapshot: VolumeSnapshot | undefined;
  /** The snapshot by a live read in this reconcile; undefined without one. */
  liveSnapshot: { found: VolumeSnapshot | undefined } | undefined;
  /** Class of the content; undefined if it is gone. */
  snapshotClass: VolumeSnapshotClass | undefined;
  /** Volumes being provisioned from the content. */
  restores: readonly Volume[];
  nodeFacts(node: string): NodeFacts;
  /** Reports whether another content that stays, or a Volume, owns the copy. */
  isOfAnother(handle: SnapshotHandle): boolean;
  /**
   * Returns the room for the copy beside what is reserved for others; undefined if not observed
   * yet.
   */
  roomOn(node: string, place: StorageLocation): Room | undefined;
  /** Outcome observed on the node, if any since the last write. */
  outcome: Outcome | undefined;
}

export type ContentAction =
  | { do: 'add-finalizer' }
  /** Removes the finalizer. */
  | { do: 'release' }
  | { do: 'set-status'; fields: ContentStatusFields; event?: EventToSend }
  /** Emits an event, once per process; the status stays. */
  | { do: 'emit-event'; event: EventToSend }
  | { do: 'observe-room'; node: string; place: StorageLocation }
  | { do: 'write-note'; note: JobNote }
  /** Reads the VolumeSnapshot that the content refers to from the API server. */
  | { do: 'read-snapshot' }
  /** Deletes the content object: no copy was ever reported for it. */
  | { do: 'delete-content' }
  /** Observes the copy, and the job that `note` names. */
  | { do: 'observe'; node: string; handle: SnapshotHandle; note: JobNote | undefined }
  | { do: 'take'; note: JobNote; freeze: Freeze }
  | { do: 'delete'; note: JobNote };

/** Longest freeze (s) of a mounted file system; `copy`: also while its blocks are copied. */
export interface Freeze {
  seconds: number;
  copy: boolean;
}
