import type { ReasonEntry } from './types.ts';

/** Backups. */
export const BACKUPS = {
  BackupTargetInvalid: {
    message: 'spec.to is invalid',
    action: 'Create the Backup again with a valid spec.to.',
  },
  BackupPaused: {
    message: 'Backup {backup} is paused',
    cause: 'Paused',
  },
  SnapshotKindsMissing: {
    message: 'the cluster does not serve VolumeSnapshots, which backups need',
    action: 'Install their CRDs: stowage install --components snapshot-crds',
    cause: 'CRDMissing',
  },
  BackupSnapshotRefused: {
    message: 'VolumeSnapshot {snapshot} could not be created: {said}',
  },
  BackupSnapshotForeign: {
    message: 'VolumeSnapshot {snapshot} exists, and was not created for this Backup',
  },
  BackupSnapshotBeingDeleted: {
    message: 'VolumeSnapshot {snapshot} is being deleted',
  },
  BackupSnapshotNotReady: {
    message: 'VolumeSnapshot {snapshot} is not ready[: {said}]',
    cause: 'SnapshotNotReady',
  },
  BackupContentUnknown: {
    message: 'the VolumeSnapshotContent of VolumeSnapshot {snapshot} is not known yet',
  },
  BackupDriverForeign: {
    message: 'VolumeSnapshot {snapshot} was taken by driver {driver}, not by Stowage',
  },
  BackupHandleInvalid: {
    message: 'the snapshot handle of VolumeSnapshot {snapshot} is invalid',
  },
  BackupSnapshotThin: {
    message: 'VolumeSnapshot {snapshot} is a thin logical volume, which cannot be backed up',
    action: 'Restore it to a claim, then copy its files in a pod',
  },
  BackupSecretUnusable: {
    message: 'key {key} of Secret {secret} cannot be used',
  },
  BackupForgotten: {
    message: 'the node has no record of the archive',
  },
  BackupNotRemoved: {
    message: 'files of the Backup are not removed from the node yet',
  },
  BackupMade: {
    message: 'The archive has {bytes} bytes',
  },
} as const satisfies Record<string, ReasonEntry>;
