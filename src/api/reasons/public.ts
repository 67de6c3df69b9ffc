/**
 * Reasons in conditions and events: those of specifications, of MetalK8s and other
 * controllers, and Stowage's own.
 */

/** Rows of a table in docs/reasons.md, in Markdown, with the reason first. */
export interface PublicReasons {
  title: string;
  /** Sentences above and below the table. */
  above?: string;
  below?: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

export const PUBLIC_REASONS: readonly PublicReasons[] = [
  {
    title: 'Events of Volumes',
    columns: ['reason', 'type', 'means'],
    rows: [
      ['StateTransition', 'Normal, Warning for `Failed`', 'the phase changed, and why'],
      ['PvCreation', 'Normal', 'the PersistentVolume was created'],
      [
        'PvDeletion',
        'Normal',
        'the PersistentVolume was marked for deletion, because the Volume is being deleted',
      ],
      [
        'VolumeFinalization',
        'Normal',
        'the Volume is released: its storage was deleted, or is kept as `onDelete` requires, or is recorded in a Leftover',
      ],
      [
        'ForcedDetach',
        'Warning',
        'the volume was force-detached without verification on the node. Make sure that the machine is off: [lost nodes](lost-nodes.md)',
      ],
    ],
  },
  {
    title: 'Events of pods',
    columns: ['reason', 'type', 'means'],
    rows: [
      ['SuccessfulAttachVolume', 'Normal', 'the device is attached, and can be mounted'],
      [
        'FailedAttachVolume',
        'Warning',
        'why the volume is not attached yet: another node or pod has it (Multi-Attach), the node does not answer or reports an error, a pause, or a `status.prepared` that Stowage did not write',
      ],
    ],
  },
  {
    title: 'Events of claims',
    columns: ['reason', 'type', 'means'],
    rows: [
      [
        'Provisioning',
        'Normal',
        'another populator fills volumes from the kind of data source: Stowage provisions none for the claim',
      ],
      [
        'ProvisioningFailed',
        'Warning',
        'why no volume is provisioned yet. Stowage retries when the cause changes',
      ],
      [
        'VolumeResizeFailed',
        'Warning',
        'the volume cannot be expanded, as without capacity on its node',
      ],
      [
        'VolumeModifyFailed',
        'Warning',
        'a VolumeAttributesClass was added to a bound claim: only volumes of CSI drivers have one',
      ],
      [
        'UnrecognizedDataSourceKind',
        'Warning',
        'no VolumePopulator is registered for the kind: [populators](populators.md)',
      ],
      [
        'PopulatorDataSourceNotFound',
        'Warning',
        'the data source does not exist. Stowage continues once it does',
      ],
      [
        'PopulatorDataSourceRefused',
        'Warning',
        'the claim may not use the data source: no grant, the feature gate is off, or the daemon may not read the kind',
      ],
      [
        'PopulatorPVCPrimeCreationError',
        'Warning',
        'the prime claim, which is filled for the claim, gets no volume; or the class has no provisioner',
      ],
      [
        'PopulatorCreationError',
        'Warning',
        'the pod cannot be created or does not run, as for a missing field, its image, or lack of resources',
      ],
      ['PopulatorCreated', 'Normal', 'a pod fills the volume, or waits for its turn'],
      ['PopulatorFailed', 'Warning', 'the pod failed; the message has the end of its log'],
      ['PopulatorFinished', 'Normal', 'the volume is filled, and bound to the claim'],
    ],
  },
  {
    title: 'Events of storage classes',
    columns: ['reason', 'type', 'means'],
    rows: [
      [
        'RoomUnknown',
        'Warning',
        'available capacity of a node for the class is unknown, and why. The scheduler treats the node as full',
      ],
      ['RoomKnown', 'Normal', 'available capacity is known again'],
    ],
  },
  {
    title: 'Events of snapshots and their contents',
    above: 'The names are those of the standard snapshot-controller.',
    columns: ['reason', 'type', 'means'],
    rows: [
      [
        'CreatingSnapshot',
        'Normal',
        'the VolumeSnapshotContent was created, and the snapshot is being taken',
      ],
      ['SnapshotReady', 'Normal', 'volumes can be restored from the snapshot'],
      [
        'SnapshotValidationError',
        'Warning',
        'the VolumeSnapshot is invalid: it names no source, or two',
      ],
      [
        'SetDefaultSnapshotClassFailed',
        'Warning',
        'the VolumeSnapshot names no class, and there is no default class, or more than one',
      ],
      [
        'SnapshotContentCreationFailed',
        'Warning',
        'no VolumeSnapshotContent can be created yet, because of the claim, its volume or the class',
      ],
      [
        'SnapshotContentMissing',
        'Warning',
        'the VolumeSnapshotContent of the VolumeSnapshot does not exist',
      ],
      [
        'SnapshotContentMismatch',
        'Warning',
        'the VolumeSnapshotContent is pre-provisioned where a dynamic one is expected, or the reverse',
      ],
      [
        'SnapshotContentMisbound',
        'Warning',
        'the VolumeSnapshotContent is bound to another VolumeSnapshot',
      ],
      [
        'SnapshotCreationFailed',
        'Warning',
        'why the snapshot could not be taken. Stowage retries, unless the message states otherwise',
      ],
      [
        'SnapshotContentCheckandUpdateFailed',
        'Warning',
        'the snapshot was not found on its node, or the node does not answer',
      ],
      [
        'SnapshotDeletePending',
        'Warning',
        'the deletion waits: volumes are being provisioned from the snapshot, or the VolumeSnapshot of the content still exists',
      ],
      [
        'SnapshotDeleteError',
        'Warning',
        'why the snapshot could not be deleted. For a lost node: [snapshots](snapshots.md#deleting)',
      ],
    ],
  },
  {
    title: 'Events of Backups',
    columns: ['reason', 'type', 'means'],
    rows: [
      ['BackupWaiting', 'Warning', 'what the Backup waits for. It continues by itself'],
      ['BackupCompleted', 'Normal', 'the archive is complete'],
      [
        'BackupFailed',
        'Warning',
        'why the Backup failed. Stowage does not retry it: create another one',
      ],
    ],
  },
  {
    title: 'Reasons of the condition Ready of a Volume',
    columns: ['reason', 'Ready', 'means', 'what to do'],
    rows: [
      ['Available', 'True', 'the volume can be used. The message, if any, has details', '–'],
      [
        'Pending',
        'Unknown',
        'the volume is being provisioned, or waits for its turn',
        'wait; the message names the cause',
      ],
      [
        'WaitingForSource',
        'Unknown',
        'the data source cannot be used now, or provisioning from it failed and is retried',
        'wait, or correct the data source',
      ],
      [
        'Attaching',
        'Unknown',
        'the device is missing, and is being attached',
        'wait; this is normal after a reboot',
      ],
      [
        'AttachmentDisabled',
        'Unknown',
        'no daemon attaches volumes: the controller is disabled',
        'run a daemon with the controller `attachment`',
      ],
      [
        'NodeUnreachable',
        'Unknown',
        'the node does not answer, or refuses the login',
        '`stowage check node`; [lost nodes](lost-nodes.md)',
      ],
      [
        'NodeUnclear',
        'Unknown',
        'the node answers, but its answer is not conclusive',
        'inspect the node: the message has its answer',
      ],
      [
        'Terminating',
        'Unknown',
        'the Volume is being deleted',
        'wait; the message names the cause',
      ],
      [
        'AdoptionRefused',
        'False',
        'the storage to adopt may still be used by its present Volume, or is being adopted by another one. Stowage retries',
        'the message names the obstacle; [lost nodes](lost-nodes.md#a-disk-of-a-dead-node)',
      ],
      [
        'InternalError',
        'False',
        'the spec is invalid',
        'correct it: delete the Volume, then create it again',
      ],
      [
        'CreationError',
        'False',
        'the volume could not be provisioned, or provisioning was refused',
        'the message names the cause; then `stowage retry volume NAME`',
      ],
      [
        'FreeExtentsCarryData',
        'False',
        'the only free extents of the volume group contain data of removed volumes',
        'consent to overwriting them: [logical volumes](logical-volumes.md). A Volume of a claim is deleted, and the claim goes to another node',
      ],
      [
        'DestructionError',
        'False',
        'the storage could not be deleted. Stowage retries',
        'the message names the cause',
      ],
      [
        'UnavailableError',
        'False',
        'the file, disk, volume group or PersistentVolume existed, and is missing',
        'bring it back: the Volume recovers by itself. Nothing is created in its place',
      ],
      [
        'DirectoryNotMounted',
        'False, Unknown',
        'the directory is not on its recorded file system, which is not mounted ([files](files.md#the-file-system-of-a-directory))',
        'mount it: the Volume recovers by itself. Nothing is created or deleted meanwhile',
      ],
      [
        'PathAstray',
        'False',
        'the persistent path leads to another device, which a pod that started meanwhile may use. Stowage corrects the path after it reports this ([disks](disks.md#the-path-of-a-volume))',
        'find out what created that device or changed the path, and check the pods that started since',
      ],
    ],
  },
  {
    title: 'Reasons of other conditions',
    below:
      'A Volume that failed permanently has the condition `Stalled`, with the reason of `Ready`.\n\nA claim that is being expanded has the condition `Resizing`, as with any driver.',
    columns: ['reason', 'of', 'means'],
    rows: [
      [
        'Paused',
        '`Paused` of a Volume',
        'the annotation `stowage.dev/paused` of the Volume or its Node stops all work on the Volume',
      ],
      ['Resumed', '`Paused` of a Volume', 'the Volume is no longer paused'],
      [
        'VolumesAttached',
        '`stowage.dev/VolumesAttached` of a pod',
        'all volumes of the pod are attached',
      ],
      [
        'VolumesNotAttached',
        '`stowage.dev/VolumesAttached` of a pod',
        'some volumes are not attached; the message names them',
      ],
    ],
  },
];
