import type { KubeObject, Resource } from '../meta.ts';
import { STOWAGE_GROUP, STOWAGE_VERSION } from '../names.ts';
import { type Explanation, type Reason, reason } from '../reasons.ts';
import { type BuiltinSource, type OptionsFound, sourceOptions } from './source.ts';

/**
 * Archive of a volume's data at one time, at a URL or on a node. Volumes can be
 * filled from a completed Backup.
 */
export interface Backup extends KubeObject {
  spec: {
    /**
     * Exactly one of these, in the same namespace. A claim is backed up by a snapshot of its own.
     */
    claimName?: string;
    snapshotName?: string;
    /** Target of the archive. */
    to: BackupTarget;
  };
  status?: BackupStatus;
}

export type BackupTarget = Omit<BuiltinSource, 'sha256'>;

export const BACKUP_PHASES = ['Pending', 'Running', 'Completed', 'Failed'] as const;

export interface BackupStatus {
  phase?: (typeof BACKUP_PHASES)[number];
  /** Obstacle to the backup, or why the backup failed. */
  message?: string | null;
  /** Reason of that message (reasons.ts). */
  detail?: Reason | null;
  /** Node that makes the archive. An archive at a path is on this node. */
  node?: string;
  /** Number of the job on that node, from 1. Written before the job is submitted. */
  attempt?: number;
  /** Start of that job. */
  startedAt?: string;
  /** Content of the archive: files, or the data of a device. */
  volumeMode?: 'Filesystem' | 'Block';
  /** Size in bytes that a volume needs to be filled from it. */
  restoreSize?: number;
  /** Size of the archive. */
  bytes?: number;
  sha256?: string;
  finishedAt?: string;
}

export const BACKUPS: Resource = {
  group: STOWAGE_GROUP,
  version: STOWAGE_VERSION,
  plural: 'backups',
  kind: 'Backup',
  namespaced: true,
};

/** Returns the options of a completed Backup for the node that fills a volume. Pure. */
export function backupOptions(object: KubeObject): OptionsFound {
  const { spec, status } = object as Partial<Backup>;
  const { phase, sha256, volumeMode } = status ?? {};
  if (phase !== 'Completed' || sha256 === undefined) {
    return { problem: `it is not complete: its phase is ${phase ?? 'Pending'}` };
  }
  if (volumeMode !== 'Filesystem' && volumeMode !== 'Block') {
    return { problem: 'its status has no valid volumeMode' };
  }
  const found = sourceOptions({ ...spec?.to, sha256 }, 'zstd');
  if ('problem' in found) return found;
  // By the UID, the node verifies that an archive at a path is of this
  // Backup: a status can be forged.
  const { uid } = object.metadata;
  const backup = spec?.to?.path === undefined || uid === undefined ? {} : { backup: uid };
  return { options: { ...found.options, mode: volumeMode, ...backup } };
}

/** Returns the target of the archive as one word for the node, or why there is none. Pure. */
export function backupTarget({ spec }: Pick<Backup, 'spec'>): { to: string } | Explanation {
  const refused = (message: string) => ({ message, detail: reason('BackupTargetInvalid') });
  const found = sourceOptions(spec.to, 'zstd');
  if ('problem' in found) return refused(found.problem.replaceAll('spec.source', 'spec.to'));
  const { source: to = '' } = found.options;
  return to.endsWith('/') ? refused('spec.to must name a file, not a directory') : { to };
}
