import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import type { SnapshotHandle } from '../../api/snapshot-handle.ts';
import type { Volume } from '../../api/volume.ts';
import type { JobNote } from './job-record.ts';
import type { Freeze, Outcome } from './types.ts';

/**
 * Asked right before a job is submitted: whether the API server, too, has all as it was decided on. undefined is what comes
 * of a job that was not submitted for that.
 */
export type IsCurrent = () => Promise<boolean>;

/** What is done on nodes for snapshots. Each can be called again at any time, and goes on where it is. */
export interface NodeWork {
  /** Reads only: what becomes of the note's job, and what is there. */
  look(
    content: VolumeSnapshotContent,
    node: string,
    handle: SnapshotHandle,
    note: JobNote | undefined,
  ): Promise<Outcome>;
  /** Has the copy made by the note's job, unless that was tried or the copy is there. */
  take(
    content: VolumeSnapshotContent,
    volume: Volume,
    note: JobNote,
    freeze: Freeze,
    isCurrent: IsCurrent,
  ): Promise<Outcome | undefined>;
  /** Has the copy removed, with what was left of taking it. `volume` may be gone. */
  remove(
    content: VolumeSnapshotContent,
    volume: Volume | undefined,
    note: JobNote,
    isCurrent: IsCurrent,
  ): Promise<Outcome | undefined>;
  /** Calls back once when the note's job does not run any more. */
  follow(content: VolumeSnapshotContent, note: JobNote, ended: () => void): void;
}
