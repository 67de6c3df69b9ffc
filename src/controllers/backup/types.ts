import type { Backup, BackupStatus } from '../../api/builtins/backup.ts';
import type { Explanation } from '../../api/reasons.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../api/snapshot.ts';
import type { SnapshotHandle } from '../../api/snapshot-handle.ts';
import type { EventToSend } from '../lib/event.ts';
import type { NodeFacts } from '../snapshot/types.ts';

/** A job on a node for a Backup. */
export interface BackupJob {
  node: string;
  /** Counts the jobs of the Backup, from 1. */
  attempt: number;
}

/** Where the snapshot is that is packed. */
export type FileHandle = Extract<SnapshotHandle, { type: 'file' }>;

/** What came of a job on a node, or why it is not known. */
export type BackupOutcome =
  | { is: 'made'; bytes: number; sha256: string }
  /** Nothing of it is on the node but what was put where it was wanted. */
  | { is: 'left' }
  /** `waits`: for what, while it has not begun. */
  | { is: 'running'; waits?: Explanation }
  /** No job ran, as far as the node knows, and nothing is made. */
  | { is: 'none' }
  /** `forGood`: trying again helps nobody. */
  | (Explanation & { is: 'failed'; forGood: boolean })
  /** Nothing was done, or nobody can tell. */
  | (Explanation & { is: 'unknown' });

/** All that a decision about one Backup is made from. */
export interface BackupInput {
  backup: Backup;
  /** Of the name that `snapshotNameOf` says, and its content, as caches have them. */
  snapshot: VolumeSnapshot | undefined;
  content: VolumeSnapshotContent | undefined;
  /** Whether the cluster has VolumeSnapshots. */
  hasSnapshots: boolean;
  nodeFacts(node: string): NodeFacts;
  /** Of the node, if it was asked since anything was last written. */
  outcome: BackupOutcome | undefined;
}

export type StatusFields = { [Field in keyof BackupStatus]?: BackupStatus[Field] | null };

/** One effect. After it, everything is read and decided again. */
export type BackupAction =
  | { do: 'add-finalizer' }
  | { do: 'release' }
  | { do: 'create-snapshot'; name: string }
  | { do: 'delete-snapshot'; snapshot: VolumeSnapshot }
  | { do: 'set-status'; fields: StatusFields; event?: EventToSend }
  | { do: 'run'; job: BackupJob; handle: FileHandle; mode: 'Filesystem' | 'Block' }
  /** Asks what came of the job, and has nothing run. */
  | { do: 'look'; job: BackupJob }
  /** Has what the job left on the node removed, once none runs. */
  | { do: 'leave'; job: BackupJob };

/** At most one action; without one, when to decide again if nothing changes before. */
export interface BackupDecision {
  action?: BackupAction;
  /** The job runs: decide again once it has ended. */
  follow?: BackupJob;
  /** ms */
  requeueAfter?: number;
  /** Decide again after a delay that grows each time. */
  retry?: true;
}
