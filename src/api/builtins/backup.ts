import type { KubeObject, Resource } from '../meta.ts';
import { STOWAGE_GROUP, STOWAGE_VERSION } from '../names.ts';
import { type Explanation, type Reason, reason } from '../reasons.ts';
import { type BuiltinSource, type OptionsFound, sourceOptions } from './source.ts';

/** What a volume has at one time, as an archive at a URL or on a node; and from then on what volumes are filled from. */
export interface Backup extends KubeObject {
  spec: {
    /** One of these, in the same namespace. A claim is backed up by a snapshot of its own. */
    claimName?: string;
    snapshotName?: string;
    /** Where it is put. */
    to: BackupTarget;
  };
  status?: BackupStatus;
}

export type BackupTarget = Omit<BuiltinSource, 'sha256'>;

export const BACKUP_PHASES = ['Pending', 'Running', 'Completed', 'Failed'] as const;

export interface BackupStatus {
  phase?: (typeof BACKUP_PHASES)[number];
  /** What it waits for, or why it failed. */
  message?: string | null;
  /** The finer reason of that (reasons.ts). */
  detail?: Reason | null;
  /** The node that it was made on; one in a path is there. */
  node?: string;
  /** Counts the jobs on that node, from 1. It is written before one is submitted. */
  attempt?: number;
  /** Of the job with that number. */
  startedAt?: string;
  /** What it is of: an archive of files, or the content of a device. */
  volumeMode?: 'Filesystem' | 'Block';
  /** Of the volume: what one takes that is made from it. Bytes. */
  restoreSize?: number;
  /** Of the archive. */
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

/** What the node is told of a Backup that volumes are filled from. Pure. */
export function backupOptions(object: KubeObject): OptionsFound {
  const { spec, status } = object as Partial<Backup>;
  const { phase, sha256, volumeMode } = status ?? {};
  if (phase !== 'Completed' || sha256 === undefined) {
    return { problem: `it is not made yet: it is ${phase ?? 'Pending'}` };
  }
  if (volumeMode !== 'Filesystem' && volumeMode !== 'Block') {
    return { problem: 'its status does not say which mode the volume had' };
  }
  const found = sourceOptions({ ...spec?.to, sha256 }, 'zstd');
  if ('problem' in found) return found;
  // By which the node knows that an archive at a path is of this Backup: a status can be forged.
  const { uid } = object.metadata;
  const backup = spec?.to?.path === undefined || uid === undefined ? {} : { backup: uid };
  return { options: { ...found.options, mode: volumeMode, ...backup } };
}

/** Where the archive is put, as one word for the node; or why there is none. Pure. */
export function backupTarget({ spec }: Pick<Backup, 'spec'>): { to: string } | Explanation {
  const refused = (message: string) => ({ message, detail: reason('BackupTargetInvalid') });
  const found = sourceOptions(spec.to, 'zstd');
  if ('problem' in found) return refused(found.problem.replaceAll('spec.source', 'spec.to'));
  const { source: to = '' } = found.options;
  return to.endsWith('/') ? refused('spec.to must name a file, not a folder') : { to };
}
