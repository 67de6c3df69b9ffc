import type { Backup, BackupStatus } from '../../api/builtins/backup.ts';
import type { Explanation } from '../../api/reasons.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../api/snapshot.ts';
import type { SnapshotHandle } from '../../api/snapshot-handle.ts';
import type { EventToSend } from '../lib/event.ts';
import type { NodeFacts } from '../snapshot/types.ts';

/** Job on a node for a Backup. */
export interface BackupJob {
  node: string;
  /** Number of this job among those of the Backup, from 1. */
  attempt: number;
}

/** Location of the snapshot to pack. */
export type FileHandle = Extract<SnapshotHandle, { type: 'file' }>;

/** Outcome of a job on a node, or why it is unknown. */
export type BackupOutcome =
  | { is: 'made'; bytes: number; sha256: string }
  /** Nothing remains on the node except an archive at its target. */
  | { is: 'left' }
  /** `waits`: the obstacle, if the job has not begun. */
  | { is: 'running'; waits?: Explanation }
  /** The node knows no job, and no archive exists. */
  | { is: 'none' }
  /** `forGood`: no retry can succeed. */
  | (Explanation & { is: 'failed'; forGood: boolean })
  /** Nothing was done, or the state on the node is unknown. */
  | (Explanation & { is: 'unknown' });

/** Input to a decision about one Backup. */
export interface BackupInput {
  backup: Backup;
  /** Snapshot with the name that `snapshotNameOf` returns, and its content, from caches. */
  snapshot: VolumeSnapshot | undefined;
  content: VolumeSnapshotContent | undefined;
  /** True if the cluster has VolumeSnapshots. */
  hasSnapshots: boolean;
  nodeFacts(node: string): NodeFacts;
  /** Outcome observed on the node, if any since the last write. */
  outcome: BackupOutcome | undefined;
}

export type StatusFields = { [Field in keyof BackupStatus]?: BackupStatus[Field] | null };

/** Single effect, after which everything is read and decided again. */
export type BackupAction =
  | { do: 'add-finalizer' }
  | { do: 'release' }
  | { do: 'create-snapshot'; name: string }
  | { do: 'delete-snapshot'; snapshot: VolumeSnapshot }
  | { do: 'set-status'; fields: StatusFields; event?: EventToSend }
  | { do: 'run'; job: BackupJob; handle: FileHandle; mode: 'Filesystem' | 'Block' }
  /** Observes the job's outcome. Submits no job. */
  | { do: 'observe'; job: BackupJob }
  /** Ends the job, then removes what it left on the node. */
  | { do: 'leave'; job: BackupJob };

/** At most one action; without one, when to decide again if nothing changes before. */
export interface BackupDecision {
  action?: BackupAction;
  /** Running job: decide again once it has ended. */
  watch?: BackupJob;
  /** Delay in ms. */
  requeueAfter?: number;
  /** Decide again with backoff. */
  retry?: true;
}
