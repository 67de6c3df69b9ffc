import { USE_ENDS } from './devices.ts';
import type { ReasonEntry } from './types.ts';

export const OR_RETAIN =
  'Bring back what was created for it. Or set spec.onDelete to Retain: the Volume is then deleted, and no logical volume is removed.';

/** Volume groups, thin pools and logical volumes. */
export const LVM = {
  LVMMissing: {
    message: 'the node lacks the tools of LVM: {said}',
    action: 'Install the package lvm2 on the node.',
    cause: 'ToolMissing',
  },
  VolumeGroupMissing: {
    message: 'there is no volume group {group} on the node',
    action:
      'Bring its disks back, or create it. vgs lists the groups that LVM sees, without those of other hosts and of disks that its devices file does not name. A group on a device of a Volume does not count, and Stowage uses no other group instead. After a power cut the metadata may be damaged; to list its backups: vgcfgrestore --list {group}',
  },
  VolumeGroupExchanged: {
    message:
      'the volume group {group} ({uuid}) is not the one of this Volume, which has the UUID {recorded}',
    action: 'Bring the earlier volume group back, or delete this Volume and create it again.',
  },
  VolumeGroupsOfOneName: {
    message: 'the node has several volume groups named {group}: {uuids}',
    action: 'Rename the wrong one by its UUID: vgrename {uuid} {group}-2',
  },
  VolumeGroupExported: {
    message: 'the volume group {group} is exported',
    action: 'Import it[ {again}]: vgimport {group}',
  },
  VolumeGroupShared: {
    message: 'the volume group {group} is clustered or shared with other hosts',
    action: 'Use a volume group that only this node uses.',
  },
  VolumeGroupPartial: {
    message: 'a physical volume of the volume group {group} is missing',
    action:
      'Bring its disk back; pvs shows which one. Stowage does not change the group until then.',
  },
  VolumeGroupReadOnly: {
    message: 'the volume group {group} is read-only',
    action: 'Allow changes: vgchange -prw {group}',
  },
  RecordOfAnotherPlace: {
    message: "the node's record for this Volume has {recorded}, not {path}",
    action: 'Delete this Volume and create it again.',
  },
  VolumeGroupFull: {
    message: 'the volume group {group} has {left} bytes left, and the Volume needs {needed}',
    action: 'Add a disk to it (vgextend), remove unneeded volumes, or make the Volume smaller.',
    cause: 'NoSpace',
  },
  FreeExtentsCarryData: {
    message:
      'the free extents of {group} for the logical volume contain {content} (on {places})[. spec.overwrite allows only {consent} to be destroyed][. {annotation}]',
    action: 'If all of that may be destroyed, set spec.overwrite (--overwrite) to {overwrite}.',
    shows: 'FreeExtentsCarryData',
    cause: 'SignatureFound',
  },
  AnnotationIsNoConsent: {
    message: 'The annotation force-lvcreate does not name what may be destroyed',
  },
  FreeExtentsAmbivalent: {
    message:
      'the free extents of {group} for the logical volume contain more than one signature, and blkid does not name them',
    action:
      'If whatever removed volumes left there may be destroyed, set spec.overwrite (--overwrite) to {overwrite}. Otherwise create a logical volume from these extents on a terminal, where LVM names each signature and asks: lvcreate --config allocation/use_blkid_wiping=1 --wipesignatures y --zero y --name {temporary} --extents {extents} {group} {ranges}; then remove it: lvremove {group}/{temporary}',
    shows: 'FreeExtentsCarryData',
    cause: 'SignatureFound',
  },
  ThinPoolMissing: {
    message: 'there is no thin pool {pool}',
    action:
      'Leave thinPool out, or create the pool: lvcreate --type thin-pool -L SIZE -n {name} {group}',
  },
  NoThinPool: {
    message: '{pool} is not a thin pool',
    action:
      'Leave thinPool out, or create the pool: lvcreate --type thin-pool -L SIZE -n {name} {group}',
  },
  ThinPoolSuspended: {
    message: 'the thin pool {pool} is suspended: an LVM command was interrupted',
    action: 'Check its state: lvs -a {group}',
  },
  ThinPoolSilent: {
    message: 'LVM does not report the usage of the thin pool {pool}',
    action: 'Check its state: lvs -a {group}',
  },
  ThinPoolOutOfSpace: {
    message: 'the thin pool {pool} is out of space',
    action: 'Check its state: lvs -a {group}',
  },
  ThinPoolMetadataReadOnly: {
    message: 'the thin pool {pool} has read-only metadata',
    action: 'Check its state: lvs -a {group}',
  },
  ThinPoolFailed: {
    message: 'the thin pool {pool} has failed',
    action: 'Check its state: lvs -a {group}',
  },
  ThinPoolUnwell: {
    message: 'the thin pool {pool} is unhealthy (lvs shows its health as {health})',
    action: 'Check its state: lvs -a {group}',
  },
  ThinPoolFull: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and a new volume of {bytes} needs {needed}',
    action: 'Remove unneeded volumes, or extend the pool: lvextend -L +SIZE {pool}',
    cause: 'NoSpace',
  },
  ThinPoolFullToFill: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and populating a volume may write all of its {bytes}[, and other volumes that are being populated {beside}]',
    action: 'Remove unneeded volumes, or extend the pool: lvextend -L +SIZE {pool}',
    cause: 'NoSpace',
  },
  ThinPoolFullToAdopt: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and adopting a volume in it may write {needed}',
    action: 'Remove unneeded volumes, or extend the pool: lvextend -L +SIZE {pool}',
    cause: 'NoSpace',
  },
  ThinPoolFullToGrow: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and growing by {bytes} writes up to {needed}',
    action: 'Remove unneeded volumes, or extend the pool: lvextend -L +SIZE {pool}',
    cause: 'NoSpace',
  },
  ThinPoolFullToCopy: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and a snapshot needs {needed}, since later writes take new blocks',
    action: 'Remove unneeded volumes, or extend the pool: lvextend -L +SIZE {pool}',
    cause: 'NoSpace',
  },
  ThinPoolFullToWipe: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and wiping a volume in it needs {needed} at a time',
    action: 'Remove unneeded volumes, or extend the pool: lvextend -L +SIZE {pool}',
    cause: 'NoSpace',
  },
  ThinPoolMetadataFull: {
    message: 'the metadata of the thin pool {pool} is {percent} percent full',
    action:
      'A pool whose metadata is full loses writes. Extend it: lvextend --poolmetadatasize +SIZE {pool}',
    cause: 'NoSpace',
  },
  ThinPoolNotZeroed: {
    message:
      'the thin pool {pool} was created with --zero n, so a volume of mode Block would expose data of earlier volumes',
    action:
      'Use a pool that was created without --zero n, or let LVM zero new blocks: lvchange --zero y {pool}',
  },
  ThinPoolRoomGone: {
    message:
      'the thin pool {pool} has less than the needed {needed} bytes left, nearly full metadata, or is unhealthy',
    cause: 'NoSpace',
  },
  ThinPoolUnderRepair: {
    message: '{volume} is active read-only: the thin pool may be under repair',
  },
  LogicalVolumeExists: {
    message:
      'a logical volume {volume} already exists, and nothing shows that it was created for this Volume',
    action:
      'Remove or rename it if it is not needed, or give the Volume another name. Or use it as a raw device: rawBlockDevice with devicePath {path}',
  },
  LogicalVolumeUnrecorded: {
    message:
      'the logical volume {volume} was created for this Volume, and no record on the node shows how far: it may hold data',
    action:
      'If it holds none, remove it: lvremove {volume}. Then retry the Volume: stowage retry volume NAME',
  },
  BegunInAnotherPool: {
    message: 'the logical volume {volume} is {found}, but the Volume requests {wanted}',
    action: 'Delete this Volume and create it again.',
  },
  BegunWithoutZeros: {
    message:
      'an earlier version of Stowage created the logical volume {volume} without writing zeros to it',
    action: 'Delete this Volume, or its claim, and create it again.',
  },
  BegunAsCopy: {
    message: '{volume} was created as a copy of another volume, and no record shows which one',
    action: 'Delete this Volume and create it again.',
  },
  UnfinishedCarriesData: {
    message:
      'the unfinished logical volume {volume} ({device}) contains {content}, and no record shows that it was populated',
    action:
      'The content may be of an earlier owner of its extents. If none of it is needed: wipefs --all {device}',
  },
  UnfinishedInUse: {
    message: 'the unfinished logical volume {volume} ({device}) is in use: {uses}',
    action: `It is removed once nothing uses it.${USE_ENDS}`,
    cause: 'DeviceInUse',
  },
  ThinSourceInAnotherGroup: {
    message:
      'the source {kind} of {volume}, {source}, is not in the volume group {group}, which {volume} requests',
    action: 'Use a storage class with the volume group of the source.',
  },
  ThinSourceMissing: {
    message: 'the source {kind} of {volume}, {source}, is missing',
    action:
      'Bring it back (vgcfgrestore, if it was removed). Stowage creates nothing in its place.',
  },
  ThinSourceTagOnSeveral: {
    message:
      'several logical volumes have the tag of the source {kind} of {volume}, {source}: {first} and {second}',
    action:
      'Remove the tag from all but the right one: lvchange --deltag stowage.dev/uid={uid} {group}/NAME',
  },
  ThinSourceNotThin: {
    message:
      'the source {kind} of {volume}, {source}, is not a thin volume (lvs shows it as {type}), and only those have snapshots',
    action: 'Copy its data in a pod.',
  },
  ThinSourceInAnotherPool: {
    message:
      'the source {kind} of {volume}, {source}, is in the thin pool {found}, but {volume} requests {pool}',
    action: 'Use a storage class with the thin pool of the source.',
  },
  ThinSourceModeDiffers: {
    message: '{volume} requests mode {mode}, but its source {kind}, {source}, has {found}',
    action: 'Create a Volume of the same mode.',
  },
  ThinSourceLarger: {
    message: '{volume} requests {bytes} bytes, but its source {kind}, {source}, has {needed}',
    action: 'Request at least that much.',
  },
  CopyContentMissing: {
    message: '{path} should contain a file system {uuid}, but {content} was found',
    action:
      'It was overwritten or replaced. Bring the earlier content back: Stowage does not change it.',
  },
  LogicalVolumeMissing: {
    message: 'the logical volume {volume} is missing',
    action:
      'Bring it back (vgcfgrestore, if it was removed), or delete the Volume if its data may be lost. Stowage does not recreate it.',
  },
  LogicalVolumeExchanged: {
    message:
      '{path} is now another logical volume ({uuid}), not the one that was created for this Volume',
    action: 'Bring the earlier one back, or delete the Volume if its data may be lost.',
  },
  LogicalVolumeHoldsNoData: {
    message: '{volume} cannot hold the data of a Volume: lvs shows it as {type}',
    action: 'Check it on the node: lvs -a {group}',
  },
  TagOnSeveral: {
    message: 'several logical volumes have the tag of this Volume: {volumes}',
    action:
      'Remove the tag from all but the one that was created for this Volume: lvchange --deltag {tag} {group}/NAME',
  },
  TagOfAnother: {
    message: 'the logical volume {volume} also has the tag of another Volume, with the UID {uid}',
    action: 'Remove the wrong tag: lvchange --deltag stowage.dev/uid=UID {volume}',
  },
  LogicalVolumePartial: {
    message: 'a physical volume of the logical volume {volume} is missing',
    action: 'Bring its disk back; pvs shows which one.',
  },
  ThinPoolOfVolumeFailed: {
    message: 'the thin pool of the logical volume {volume} has failed',
    action: 'Repair the pool: see lvmthin(7)',
  },
  LogicalVolumeWithoutDevice: {
    message: 'the node has no device for the logical volume {volume}, which LVM reports as active',
    action: 'Check it on the node: lvs {volume}; dmsetup info',
  },
  LogicalVolumeNotReady: {
    message: 'the logical volume {volume} is not ready to be recognized[: next step: {step}]',
    action: 'Activate it: lvchange -ay {volume}',
  },
  AdoptedTagMissing: {
    message: 'no logical volume of {group} has the tag {tag}',
    action:
      'Check the group and the UID. A logical volume of MetalK8s has no tag. Only if it is one of those, tag it: lvchange --addtag {tag} {group}/NAME',
  },
  AdoptedTagOnSeveral: {
    message: 'several logical volumes of {group} have the tag {tag}: {first}, {second}',
    action: 'Remove the tag from all but the one to adopt: lvchange --deltag {tag} {group}/NAME',
  },
  AdoptedTagOfAnother: {
    message: 'the logical volume {volume} also has the tag of another Volume, with the UID {uid}',
    action: 'Remove the wrong tag: lvchange --deltag stowage.dev/uid={uid} {volume}',
  },
  AdoptedIsSnapshot: {
    message: 'the logical volume {volume} is a snapshot, as its name shows, not that of a Volume',
    action:
      'A snapshot cannot be adopted. Restore it: create a claim whose dataSource is its VolumeSnapshot.',
  },
  AdoptedNameTaken: {
    message: 'a logical volume {taken} already exists, and {volume} needs that name',
    action:
      'Give the Volume another name, or rename that logical volume if nothing needs its name.',
  },
  AdoptedIsNotThin: {
    message: 'the logical volume {volume} is not thin, but the Volume requests {wanted}',
    action: 'Leave thinPool out.',
  },
  AdoptedInAnotherPool: {
    message:
      'the logical volume {volume} is in the thin pool {pool}, but the Volume requests {wanted}',
    action: 'Set spec.lvmLogicalVolume.thinPool to {pool}.',
  },
  AdoptedTagGone: {
    message: '{volume} no longer has the tag {tag}',
  },
  VolumeGroupChanged: {
    message: 'the volume group {group} is no longer the observed one, {uuid}',
  },
  LogicalVolumeChanged: {
    message: '{volume} is no longer the observed logical volume',
  },
  FreeExtentsUnreadable: {
    message: 'the cached data of {disk} cannot be flushed',
  },
  FreeExtentsChanged: {
    message: 'the content of the free extents of {disk} changed after they were observed',
  },
  ThinVolumeActivated: {
    message: 'the unfinished thin volume {volume} could be activated, so it was not removed',
  },
  LogicalVolumeMadeMeanwhile: {
    message: '{path} was provisioned meanwhile',
  },
  LogicalVolumeNotAsMade: {
    message: '{path} is not the logical volume that was created',
  },
  UnfinishedChanged: {
    message: '{volume} is not the logical volume that was just created',
  },
  LogicalVolumeUUIDDiffers: {
    message: '{path} does not have the UUID {uuid}',
  },
  FillGivenUp: {
    message: 'the volume is being deleted',
  },
  LogicalVolumeStays: {
    message: 'the logical volume {volume} still exists: it is active again, or has snapshots',
  },
  LogicalVolumeUnknown: {
    message:
      'the logical volume {volume} has the tag of this Volume, and no record shows how far it was created: it may hold data',
    action:
      'If it holds none, remove it: lvremove {volume}. Or set spec.onDelete to Retain: the Volume is then deleted, and the logical volume stays.',
  },
  LogicalVolumeOfAnother: {
    message: '{volume} is also on record for another Volume, [{other}][with the UID {uid}]',
    action: OR_RETAIN,
  },
  LogicalVolumeNotOurs: {
    message: '{volume} is not the logical volume that was created for this Volume',
    action: OR_RETAIN,
  },
  LogicalVolumeUnmarked: {
    message: 'nothing on the node shows that {volume} was created for this Volume',
    action: OR_RETAIN,
  },
  LogicalVolumeNotAlone: {
    message:
      '{volume} has snapshots or is part of another volume (lvs shows {type}), which would be removed with it',
    action: OR_RETAIN,
  },
  LogicalVolumeCarriesOther: {
    message: '{device} contains {content}, which does not belong to this Volume',
    action: OR_RETAIN,
  },
  LogicalVolumeInUse: {
    message: 'the logical volume {volume} ({device}) is in use: {uses}',
    action: `It is removed once nothing uses it.${USE_ENDS}`,
    cause: 'DeviceInUse',
  },
  ThinSnapshotNameTaken: {
    message: 'a logical volume {volume} exists, and nothing shows that it is the snapshot {uid}',
    action:
      'If it is not, rename it. If it is, tag it on the node: lvchange --addtag {tag} {volume}',
  },
  ThinOriginMissing: {
    message: 'the logical volume {volume} of {name} is missing',
    action:
      'Bring it back (vgcfgrestore, if it was removed). Stowage takes no snapshot of another one.',
  },
  ThinOriginExchanged: {
    message: 'the logical volume {volume} of {name} is not the one that was created for it',
    action:
      'Bring it back (vgcfgrestore, if it was removed). Stowage takes no snapshot of another one.',
  },
  ThinOriginNotThin: {
    message:
      '{volume} is not a thin volume (lvs shows it as {type}), and only those have snapshots',
    action: 'Copy its data in a pod, to a volume of a storage class with a thinPool.',
  },
  ThinOriginUntagged: {
    message: '{volume} does not have the tag of Stowage yet',
    action: 'The snapshot is taken once it has the tag.',
  },
  ThinOriginUnwell: {
    message: '{volume} is unhealthy (lvs shows {health})',
    action: 'The snapshot is taken once it is healthy.',
  },
  ThinOriginSuspended: {
    message:
      '{volume} or its thin pool is suspended: an LVM command is running, or was interrupted',
    action: 'The snapshot is taken once both are resumed.',
  },
  ThinOriginGrowing: {
    message: '{volume} is larger than its content: it is being expanded',
    action: 'The snapshot is taken once it is expanded.',
  },
  ThinSnapshotInUse: {
    message: 'the snapshot {volume} is in use: a process has it open, or it is mounted',
    action: 'It is removed once nothing uses it.',
    cause: 'DeviceInUse',
  },
} as const satisfies Record<string, ReasonEntry>;
