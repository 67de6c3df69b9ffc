import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import type { SnapshotHandle } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';
import type { JobNote } from './job-record.ts';
import type { Freeze, Outcome } from './types.ts';

/**
 * Check right before a job is submitted: whether the API server has all objects as decided on. If
 * not, no job is submitted and the outcome is undefined.
 */
export type IsCurrent = () => Promise<boolean>;

/**
 * Operations on nodes for snapshots. Each can be called at any time and continues from the present
 * state.
 */
export interface NodeWork {
  /** Observes the record's job and the copy. Read-only. */
  observe(
    content: VolumeSnapshotContent,
    node: string,
    handle: SnapshotHandle,
    note: JobNote | undefined,
  ): Promise<Outcome>;
  /** Makes the copy by the record's job, unless that job ran before or the copy exists. */
  take(
    content: VolumeSnapshotContent,
    volume: Volume,
    note: JobNote,
    freeze: Freeze,
    isCurrent: IsCurrent,
  ): Promise<Outcome | undefined>;
  /** Removes the copy and all remains of taking it. `volume` may be gone. */
  remove(
    content: VolumeSnapshotContent,
    volume: Volume | undefined,
    note: JobNote,
    isCurrent: IsCurrent,
  ): Promise<Outcome | undefined>;
  /** Calls `ended` once, when the record's job no longer runs. */
  watch(content: VolumeSnapshotContent, note: JobNote, ended: () => void): void;
}
