import type { ReasonEntry } from './types.ts';

/** Backups. */
export const BACKUPS = {
  BackupTargetInvalid: {
    message: 'spec.to names no place for the archive',
    action: 'Create the Backup again with another spec.to.',
  },
  BackupPaused: {
    message: 'Backup {backup} is paused',
    cause: 'Paused',
  },
  SnapshotKindsMissing: {
    message: 'this cluster has no VolumeSnapshots, and a backup is of one',
    action: 'What defines them is installed by: stowage install --components snapshot-crds',
    cause: 'CRDMissing',
  },
  BackupSnapshotRefused: {
    message: 'VolumeSnapshot {snapshot} could not be made: {said}',
  },
  BackupSnapshotForeign: {
    message: "VolumeSnapshot {snapshot} is somebody else's",
  },
  BackupSnapshotBeingDeleted: {
    message: 'VolumeSnapshot {snapshot} is being deleted',
  },
  BackupSnapshotNotReady: {
    message: 'VolumeSnapshot {snapshot} is not ready[: {said}]',
    cause: 'SnapshotNotReady',
  },
  BackupContentUnknown: {
    message: 'the content of VolumeSnapshot {snapshot} is not known yet',
  },
  BackupDriverForeign: {
    message: 'VolumeSnapshot {snapshot} is of the driver {driver}',
  },
  BackupHandleInvalid: {
    message: 'the content of VolumeSnapshot {snapshot} names no snapshot that Stowage takes',
  },
  BackupSnapshotThin: {
    message: 'VolumeSnapshot {snapshot} is a thin logical volume, which is not packed by itself',
    action: 'Restore it to a claim, and copy its files within a pod',
  },
  BackupSecretUnusable: {
    message: 'it takes key {key} of Secret {secret}, which cannot be used',
  },
  BackupForgotten: {
    message: 'the node forgot what was made',
  },
  BackupNotRemoved: {
    message: 'what it left is not removed yet',
  },
  BackupMade: {
    message: 'It has {bytes} bytes',
  },
} as const satisfies Record<string, ReasonEntry>;
