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

/** Who does the common controller's part: this daemon, or the standard snapshot-controller beside it. */
export type SnapshotMode = 'builtin' | 'external';

/** At most one action; without one, when to decide again if nothing changes before. */
export interface Decision<Action> {
  action?: Action;
  /** The job runs: decide again once it has ended. */
  follow?: JobNote;
  /** ms */
  requeueAfter?: number;
  /** Decide again after a delay that grows each time. */
  retry?: true;
}

/** All that a decision about one VolumeSnapshot is made from, as caches have it. */
export interface SnapshotInput {
  snapshot: VolumeSnapshot;
  mode: SnapshotMode;
  /** Of the name that `contentNameOf` says. */
  content: VolumeSnapshotContent | undefined;
  /** The same as the API server has it, if it was asked just now. */
  liveContent: { found: VolumeSnapshotContent | undefined } | undefined;
  /** Of the name in the spec, with the PersistentVolume of its spec, and the Volume of that one's name. */
  claim: PersistentVolumeClaim | undefined;
  pv: PersistentVolume | undefined;
  volume: Volume | undefined;
  /** All there are. */
  classes: readonly VolumeSnapshotClass[];
  /** Volumes that are being made from the content. */
  restores: readonly Volume[];
}

/** One effect. After it, everything is read and decided again. */
export type SnapshotAction =
  | { do: 'add-finalizer'; finalizer: string }
  | { do: 'take-off-finalizers'; finalizers: readonly string[] }
  | { do: 'set-class'; name: string }
  /** Keeps the claim while the snapshot is taken. */
  | { do: 'protect-claim'; claim: PersistentVolumeClaim }
  /** Only while the snapshot is there and not being deleted, by a live read. */
  | { do: 'create-content'; content: VolumeSnapshotContent; event?: EventToSend }
  /** Reads the content from the API server. */
  | { do: 'read-content'; name: string }
  /** Writes the snapshot's UID into the reference of a content that was made by hand. */
  | { do: 'bind-content'; content: VolumeSnapshotContent }
  | { do: 'delete-content'; content: VolumeSnapshotContent }
  | { do: 'set-status'; fields: SnapshotStatusFields; event?: EventToSend };

/** What is known of a node. */
export interface NodeFacts {
  /** There is a Node object of that name. */
  exists: boolean;
  ready: boolean;
  /** Somebody vouches that the machine is off. */
  off: boolean;
  paused: boolean;
  /** This process has hands on it. */
  ours: boolean;
}

/** What is so on a node, or why it is not known. */
export type Outcome =
  /** The whole copy is there. Bytes; `takenAt` in ms since the epoch, where the node can tell. */
  | { is: 'whole'; sizeBytes: number; takenAt?: number | undefined }
  /** Nothing of it is there; also after a deletion. */
  | { is: 'absent' }
  | { is: 'running' }
  /** Nothing was done, and why. It may go on by itself. */
  | (Explanation & { is: 'refused' })
  /**
   * The job ended without having done it. `leftBytes`: what it left, which the next one removes first. `isFrozen`: it left the volume
   * frozen, which the next one thaws first.
   */
  | (Explanation & { is: 'failed'; leftBytes?: bigint; isFrozen?: true })
  /** Nobody can tell. */
  | (Explanation & { is: 'unknown' });

/** All that a decision about one VolumeSnapshotContent of ours is made from. */
export interface ContentInput {
  content: VolumeSnapshotContent;
  /** Of the name that the content gives; undefined when it is gone, or another one has the name. */
  volume: Volume | undefined;
  /** Where its copy is to be made, and by which node; or why there can be none. undefined without a Volume. */
  place: { node: string; handle: SnapshotHandle } | Explanation | undefined;
  /** The VolumeSnapshot that the content refers to, with that UID. */
  snapshot: VolumeSnapshot | undefined;
  /** The same as the API server has it, if it was asked just now. */
  liveSnapshot: { found: VolumeSnapshot | undefined } | undefined;
  /** The content's; undefined when it is gone. */
  snapshotClass: VolumeSnapshotClass | undefined;
  /** Volumes that are being made from the content. */
  restores: readonly Volume[];
  nodeFacts(node: string): NodeFacts;
  /** Whether that is what another content has as well, one that stays; or a Volume. */
  isOfAnother(handle: SnapshotHandle): boolean;
  /** Room for the copy beside what is promised to others; undefined where it was not observed yet. */
  roomOn(node: string, place: StorageLocation): Room | undefined;
  /** Of the node, if it was asked since anything was last written. */
  outcome: Outcome | undefined;
}

export type ContentAction =
  | { do: 'add-finalizer' }
  /** Lets the content go. */
  | { do: 'release' }
  | { do: 'set-status'; fields: ContentStatusFields; event?: EventToSend }
  /** Said once by each process; the status stays. */
  | { do: 'tell'; event: EventToSend }
  | { do: 'look-for-room'; node: string; place: StorageLocation }
  | { do: 'write-note'; note: JobNote }
  /** Reads the VolumeSnapshot that the content refers to from the API server. */
  | { do: 'read-snapshot' }
  /** The object, of which nobody has been told that anything was taken for it. */
  | { do: 'delete-content' }
  /** What becomes of a job, if a note names one, and what is there. */
  | { do: 'look'; node: string; handle: SnapshotHandle; note: JobNote | undefined }
  | { do: 'take'; note: JobNote; freeze: Freeze }
  | { do: 'delete'; note: JobNote };

/** For how long a mounted file system may be frozen, in s; `copy`: also while its blocks are copied. */
export interface Freeze {
  seconds: number;
  copy: boolean;
}
