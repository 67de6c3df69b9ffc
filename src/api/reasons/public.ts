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
    columns: ['reason', 'type', 'says'],
    rows: [
      ['StateTransition', 'Normal, Warning for `Failed`', 'the phase has changed, and why'],
      ['PvCreation', 'Normal', 'the PersistentVolume was made'],
      [
        'PvDeletion',
        'Normal',
        'the PersistentVolume was marked for deletion, for the Volume is being deleted',
      ],
      [
        'VolumeFinalization',
        'Normal',
        'the Volume goes: its storage was removed, or is kept as `onDelete` says, or as a Leftover',
      ],
      [
        'ForcedDetach',
        'Warning',
        'it was let go of on a node that nobody looked at. Make sure that the machine is off: [lost nodes](lost-nodes.md)',
      ],
    ],
  },
  {
    title: 'Events of pods',
    columns: ['reason', 'type', 'says'],
    rows: [
      ['SuccessfulAttachVolume', 'Normal', 'the device is there, and can be mounted'],
      [
        'FailedAttachVolume',
        'Warning',
        'why not yet: another node or pod has the volume (Multi-Attach), the node does not answer, a pause, a `status.prepared` that Stowage never wrote, what the node said',
      ],
    ],
  },
  {
    title: 'Events of claims',
    columns: ['reason', 'type', 'says'],
    rows: [
      [
        'Provisioning',
        'Normal',
        'the claim starts from a kind that somebody else fills: Stowage makes no volume for it',
      ],
      [
        'ProvisioningFailed',
        'Warning',
        'why there is no volume yet. It goes on by itself when that changes',
      ],
      ['VolumeResizeFailed', 'Warning', 'no room to grow on its node'],
      [
        'UnrecognizedDataSourceKind',
        'Warning',
        'no VolumePopulator stands for the kind: [populators](populators.md)',
      ],
      [
        'PopulatorDataSourceNotFound',
        'Warning',
        'the object that it starts from is not there. It goes on once it is',
      ],
      [
        'PopulatorDataSourceRefused',
        'Warning',
        'it may not start from that: no grant, the gate is off, or the daemon may not read the kind',
      ],
      [
        'PopulatorPVCPrimeCreationError',
        'Warning',
        'the claim beside it, which is filled, gets no volume; or its class is for volumes made by hand',
      ],
      [
        'PopulatorCreationError',
        'Warning',
        'the pod cannot be made or does not run: a field that is missing, an image, room',
      ],
      ['PopulatorCreated', 'Normal', 'a pod fills the volume, or waits for its turn'],
      ['PopulatorFailed', 'Warning', 'the pod failed, with the end of its log'],
      ['PopulatorFinished', 'Normal', "the volume is filled, and the claim's"],
    ],
  },
  {
    title: 'Events of storage classes',
    columns: ['reason', 'type', 'says'],
    rows: [
      [
        'RoomUnknown',
        'Warning',
        'how much room a node has for volumes of the class is not known, and why: the scheduler takes it for a node without room',
      ],
      ['RoomKnown', 'Normal', 'it is known again'],
    ],
  },
  {
    title: 'Events of snapshots and their contents',
    above: 'The names are those of the standard snapshot-controller.',
    columns: ['reason', 'type', 'says'],
    rows: [
      ['CreatingSnapshot', 'Normal', 'the content was made, and the node is at work'],
      ['SnapshotReady', 'Normal', 'it can be restored from'],
      [
        'SnapshotValidationError',
        'Warning',
        'the VolumeSnapshot itself is wrong: it names no source, or two',
      ],
      [
        'SetDefaultSnapshotClassFailed',
        'Warning',
        'it names no class, and there is no default one, or two',
      ],
      [
        'SnapshotContentCreationFailed',
        'Warning',
        'no content can be made yet: the claim, its volume, the class',
      ],
      ['SnapshotContentMissing', 'Warning', 'the content that it was bound to is gone'],
      [
        'SnapshotContentMismatch',
        'Warning',
        'the content that it names is of another snapshot or driver',
      ],
      ['SnapshotContentMisbound', 'Warning', 'the content is bound to another VolumeSnapshot'],
      [
        'SnapshotCreationFailed',
        'Warning',
        'why it could not be taken. It is tried again, unless the message says otherwise',
      ],
      [
        'SnapshotContentCheckandUpdateFailed',
        'Warning',
        'the snapshot was not found on its node, or the node does not answer',
      ],
      [
        'SnapshotDeletePending',
        'Warning',
        'the deletion waits, for volumes are being made from it',
      ],
      [
        'SnapshotDeleteError',
        'Warning',
        'why it could not be deleted. A lost node: [snapshots](snapshots.md#deleting)',
      ],
    ],
  },
  {
    title: 'Events of Backups',
    columns: ['reason', 'type', 'says'],
    rows: [
      ['BackupWaiting', 'Warning', 'what it waits for. It goes on by itself'],
      ['BackupCompleted', 'Normal', 'the archive is whole'],
      ['BackupFailed', 'Warning', 'why it failed. A Backup is not tried again: create another one'],
    ],
  },
  {
    title: 'Reasons of the condition Ready of a Volume',
    columns: ['reason', 'Ready', 'means', 'what to do'],
    rows: [
      ['Available', 'True', 'it can be used. A message tells what is to be known', '–'],
      [
        'Pending',
        'Unknown',
        'it is being made, or waits for its turn',
        'wait; the message says for what',
      ],
      [
        'WaitingForSource',
        'Unknown',
        'what it starts from cannot be used now, or making it of that failed and is tried again',
        'wait, or put right what the message names',
      ],
      [
        'Attaching',
        'Unknown',
        'its device is not there, and is being attached',
        'wait; after a reboot this is usual',
      ],
      [
        'AttachmentDisabled',
        'Unknown',
        'no daemon attaches: the controller is switched off',
        'run one with the controller `attachment`',
      ],
      [
        'NodeUnreachable',
        'Unknown',
        'its node does not answer, or does not let Stowage in',
        '`stowage check node`; [lost nodes](lost-nodes.md)',
      ],
      [
        'NodeUnclear',
        'Unknown',
        'its node answers, and nothing safe follows from it',
        'look at the node: the message has what it said',
      ],
      ['Terminating', 'Unknown', 'it is being deleted', 'wait; the message says for what'],
      [
        'AdoptionRefused',
        'False',
        "the storage that it adopts may still be used by the Volume that has it, or becomes another one's. It is tried again",
        'the message says what keeps it; [lost nodes](lost-nodes.md#a-disk-of-a-dead-node)',
      ],
      [
        'InternalError',
        'False',
        'the spec cannot be made true',
        'correct it: delete and create it again',
      ],
      [
        'CreationError',
        'False',
        'it could not be made, or making it was refused',
        'the message says why; any change of the spec has it tried again',
      ],
      [
        'FreeExtentsCarryData',
        'False',
        'the volume group has no other free extents than such as carry what removed volumes left',
        'consent to that: [logical volumes](logical-volumes.md). A Volume that was made for a claim is deleted, and the claim goes to another node',
      ],
      [
        'DestructionError',
        'False',
        'its storage could not be removed. It is tried again',
        'the message says why',
      ],
      [
        'UnavailableError',
        'False',
        'it was there, and is not: file, disk, group or PersistentVolume',
        'bring it back; it recovers by itself. Nothing is made in its place',
      ],
      [
        'DirectoryNotMounted',
        'False, Unknown',
        'its directory is not on the file system that is on record: it is not mounted ([files](files.md#the-file-system-of-a-directory))',
        'mount it; it recovers by itself. Nothing is made or removed meanwhile',
      ],
      [
        'PathAstray',
        'False',
        'its persistent path leads to another device; a pod that started meanwhile may have got that one. It is put right once this is told ([disks](disks.md#the-path-of-a-volume))',
        'find out who made that device, or changed the path, and look at what pods started since',
      ],
    ],
  },
  {
    title: 'Reasons of other conditions',
    below: 'A claim that grows has the condition `Resizing`, as with any driver.',
    columns: ['reason', 'of', 'means'],
    rows: [
      [
        'Paused',
        '`Paused` of a Volume',
        'the annotation `stowage.dev/paused` of it or of its Node keeps all work from being done',
      ],
      ['Resumed', '`Paused` of a Volume', 'it is not paused any more'],
      ['VolumesAttached', '`stowage.dev/VolumesAttached` of a pod', 'all of its volumes are there'],
      ['VolumesNotAttached', '`stowage.dev/VolumesAttached` of a pod', 'some are not, and which'],
    ],
  },
];
