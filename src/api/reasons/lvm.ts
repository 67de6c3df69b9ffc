import { USE_ENDS } from './devices.ts';
import type { ReasonEntry } from './types.ts';

export const OR_RETAIN =
  'Bring back what was made for it; or set spec.onDelete to Retain, and the Volume goes without touching any logical volume.';

/** Volume groups, thin pools and logical volumes. */
export const LVM = {
  VolumeGroupMissing: {
    message: 'there is no volume group {group} on the node',
    action:
      'Bring its disks back, or create it: vgs lists those that LVM sees. It leaves out those of other hosts, and of disks that its devices file does not name; one on a device of a Volume does not count. After a power cut its metadata may be damaged: vgcfgrestore --list {group} names what to restore them from. Nothing is made elsewhere.',
  },
  VolumeGroupExchanged: {
    message:
      'the volume group {group} ({uuid}) is not the one that this Volume was made in, which has the UUID {recorded}',
    action: 'Bring the earlier volume group back, or delete this Volume and create it again.',
  },
  VolumeGroupsOfOneName: {
    message: 'the node has several volume groups {group}: {uuids}',
    action: 'Rename the one that is not meant, by its UUID: vgrename {uuid} {group}-2.',
  },
  VolumeGroupExported: {
    message: 'the volume group {group} is exported',
    action: 'Take it into use[ {again}]: vgimport {group}.',
  },
  VolumeGroupShared: {
    message: 'the volume group {group} is clustered or shared with other hosts',
    action: 'Use a volume group of the node alone.',
  },
  VolumeGroupPartial: {
    message: 'a physical volume of the volume group {group} is away',
    action: 'Bring its disk back: pvs tells which one. Nothing of the group is changed until then.',
  },
  VolumeGroupReadOnly: {
    message: 'the volume group {group} is read-only',
    action: 'Allow changes: vgchange -prw {group}.',
  },
  RecordOfAnotherPlace: {
    message: 'the node records for this Volume {recorded}, not {path}',
    action: 'Delete this Volume and create it again.',
  },
  VolumeGroupFull: {
    message: 'the volume group {group} has {left} bytes left, and the Volume needs {needed}',
    action: 'Add a disk to it (vgextend), remove what is not needed, or make the Volume smaller.',
    cause: 'NoSpace',
  },
  FreeExtentsCarryData: {
    message:
      'the free extents of {group} that the logical volume would take carry {content} (on {places})[. The consent that was given is for {consent}, which is not what is there][. {annotation}]',
    action: 'If all of that may be destroyed, set spec.overwrite to {overwrite}.',
    shows: 'FreeExtentsCarryData',
    cause: 'SignatureFound',
  },
  AnnotationIsNoConsent: {
    message: 'The annotation force-lvcreate does not say what may be destroyed',
  },
  FreeExtentsAmbivalent: {
    message:
      'the free extents of {group} that the logical volume would take carry more than one signature, and blkid does not tell which',
    action:
      'If whatever removed volumes left there may be destroyed, set spec.overwrite to {overwrite}. Else make a logical volume of them on a terminal, where LVM names each and asks: lvcreate --config allocation/use_blkid_wiping=1 --wipesignatures y --zero y --name {temporary} --extents {extents} {group} {ranges}; then remove it: lvremove {group}/{temporary}.',
    shows: 'FreeExtentsCarryData',
    cause: 'SignatureFound',
  },
  ThinPoolMissing: {
    message: 'there is no thin pool {pool}',
    action: 'Make it: lvcreate --type thin-pool -L SIZE -n {name} {group}. Or leave thinPool out.',
  },
  NoThinPool: {
    message: '{pool} is no thin pool',
    action: 'Make it: lvcreate --type thin-pool -L SIZE -n {name} {group}. Or leave thinPool out.',
  },
  ThinPoolSuspended: {
    message: 'the thin pool {pool} is suspended: an LVM command was interrupted',
    action: 'Look at it first: lvs -a {group}.',
  },
  ThinPoolSilent: {
    message: 'the thin pool {pool} does not tell how full it is',
    action: 'Look at it first: lvs -a {group}.',
  },
  ThinPoolOutOfSpace: {
    message: 'the thin pool {pool} is out of space',
    action: 'Look at it first: lvs -a {group}.',
  },
  ThinPoolMetadataReadOnly: {
    message: 'the thin pool {pool} has read-only metadata',
    action: 'Look at it first: lvs -a {group}.',
  },
  ThinPoolFailed: {
    message: 'the thin pool {pool} has failed',
    action: 'Look at it first: lvs -a {group}.',
  },
  ThinPoolUnwell: {
    message: 'the thin pool {pool} is not well (lvs shows its health as {health})',
    action: 'Look at it first: lvs -a {group}.',
  },
  ThinPoolFull: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and a volume of {bytes} is begun with {needed}',
    action: 'Make the pool larger (lvextend {pool}), or remove what is not needed.',
    cause: 'NoSpace',
  },
  ThinPoolFullToFill: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and filling a volume may write all of its {bytes}[, and what is being filled beside it {beside}]',
    action: 'Make the pool larger (lvextend {pool}), or remove what is not needed.',
    cause: 'NoSpace',
  },
  ThinPoolFullToAdopt: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and adopting a volume of it may write {needed}',
    action: 'Make the pool larger (lvextend {pool}), or remove what is not needed.',
    cause: 'NoSpace',
  },
  ThinPoolFullToGrow: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and growing by {bytes} writes up to {needed}',
    action: 'Make the pool larger (lvextend {pool}), or remove what is not needed.',
    cause: 'NoSpace',
  },
  ThinPoolFullToCopy: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and a snapshot is taken where there are {needed}, as what is written from then on takes new ones',
    action: 'Make the pool larger (lvextend {pool}), or remove what is not needed.',
    cause: 'NoSpace',
  },
  ThinPoolFullToWipe: {
    message:
      'the thin pool {pool} has {left} bytes left of {size}, and wiping a volume of it takes {needed} at a time',
    action: 'Make the pool larger (lvextend {pool}), or remove what is not needed.',
    cause: 'NoSpace',
  },
  ThinPoolMetadataFull: {
    message: 'the metadata of the thin pool {pool} are full to {percent} percent',
    action:
      'Make them larger: lvextend --poolmetadatasize +SIZE {pool}. A pool whose metadata are full loses what is written.',
    cause: 'NoSpace',
  },
  ThinPoolNotZeroed: {
    message:
      'the thin pool {pool} was made with --zero n, so a volume of mode Block would show what earlier volumes left in it',
    action:
      'Have LVM zero what it hands out: lvchange --zero y {pool}. Or use a pool that was made without --zero n.',
  },
  ThinPoolRoomGone: {
    message:
      'the thin pool {pool} has less than the {needed} bytes left that are needed, or is not well any more',
    cause: 'NoSpace',
  },
  ThinPoolUnderRepair: {
    message: '{volume} is active for reading alone: somebody may be repairing the thin pool',
  },
  LogicalVolumeExists: {
    message:
      'there is a logical volume {volume} already, and nothing says that it was made for this Volume',
    action:
      'Remove or rename it if it is not needed; name the Volume otherwise; or use it as a raw device: rawBlockDevice with devicePath {path}.',
  },
  LogicalVolumeUnrecorded: {
    message:
      'the logical volume {volume} was made for this Volume, and nothing on the node says how far: it may hold data',
    action:
      'If it holds none, remove it: lvremove {volume}. The Volume is tried again when its spec changes or it is created anew.',
  },
  BegunInAnotherPool: {
    message: 'the logical volume {volume} is {found}, and the Volume asks for {wanted}',
    action: 'Delete this Volume and create it again.',
  },
  BegunWithoutZeros: {
    message:
      'the logical volume {volume} was begun by an earlier version, which wrote no zeros to it',
    action: 'Delete this Volume, or its claim, and create it again.',
  },
  BegunAsCopy: {
    message: '{volume} was begun as a copy of another volume, and it is not known of which',
    action: 'Delete this Volume and create it again.',
  },
  UnfinishedCarriesData: {
    message:
      'the logical volume {volume} ({device}) was begun for this Volume and carries {content}, which nothing says it was filled with',
    action:
      'It may be of an earlier owner of its extents. If none of it is needed: wipefs --all {device}.',
  },
  UnfinishedInUse: {
    message:
      'the logical volume {volume} ({device}), which was not filled to the end, is in use: {uses}',
    action: `It is removed once nothing uses it any more.${USE_ENDS}`,
    cause: 'DeviceInUse',
  },
  ThinSourceInAnotherGroup: {
    message:
      'the {kind} that {volume} starts from, {source}, is in another volume group than {group}, where {volume} is to be',
    action: 'Use a storage class of that volume group.',
  },
  ThinSourceMissing: {
    message: 'the {kind} that {volume} starts from, {source}, is missing',
    action: 'Bring it back (vgcfgrestore, if it was removed). Nothing is made in its place.',
  },
  ThinSourceTagOnSeveral: {
    message:
      'several logical volumes carry the tag of the {kind} that {volume} starts from, {source}, {first} and {second}',
    action:
      'Take it off all but the right one: lvchange --deltag stowage.dev/uid={uid} {group}/NAME.',
  },
  ThinSourceNotThin: {
    message:
      'the {kind} that {volume} starts from, {source}, is no thin volume (lvs shows it as {type}), and only those have snapshots',
    action: 'Copy its data within a pod.',
  },
  ThinSourceInAnotherPool: {
    message:
      'the {kind} that {volume} starts from, {source}, is in the thin pool {found}, and {volume} is to be in {pool}',
    action: 'Use a storage class of that thin pool.',
  },
  ThinSourceModeDiffers: {
    message:
      '{volume} is to have mode {mode}, and the {kind} that {volume} starts from, {source}, has {found}',
    action: 'Create a Volume of the same mode.',
  },
  ThinSourceLarger: {
    message:
      '{volume} is to have {bytes} bytes, and the {kind} that {volume} starts from, {source}, has {needed}',
    action: 'Ask for that much at least.',
  },
  CopyContentMissing: {
    message: '{path} should hold a file system {uuid}, but {content} was found',
    action: 'It was overwritten or exchanged. It is left as it is.',
  },
  LogicalVolumeMissing: {
    message: 'the logical volume {volume} is missing',
    action:
      'Bring it back (vgcfgrestore, if it was removed), or delete the Volume if its data is given up. Nothing is made anew in its place.',
  },
  LogicalVolumeExchanged: {
    message:
      '{path} is now another logical volume ({uuid}), and not the one that was made for this Volume',
    action: 'Bring the earlier one back, or delete the Volume if its data is given up.',
  },
  LogicalVolumeHoldsNoData: {
    message: "{volume} is no logical volume that holds a Volume's data: lvs shows it as {type}",
    action: 'Look at it on the node: lvs -a {group}.',
  },
  TagOnSeveral: {
    message: 'several logical volumes carry the tag of this Volume: {volumes}',
    action:
      'Take it off all but the one that was made for it: lvchange --deltag {tag} {group}/NAME.',
  },
  TagOfAnother: {
    message:
      'the logical volume {volume} carries the tag of another Volume, too, with the UID {uid}',
    action: 'Take off the tag that is wrong: lvchange --deltag stowage.dev/uid=UID {volume}.',
  },
  LogicalVolumePartial: {
    message: 'a physical volume of the logical volume {volume} is away',
    action: 'Bring its disk back: pvs tells which one.',
  },
  ThinPoolOfVolumeFailed: {
    message: 'the thin pool of the logical volume {volume} has failed',
    action: 'See lvmthin(7), on repair.',
  },
  LogicalVolumeWithoutDevice: {
    message: 'the node has no device for the logical volume {volume}, which LVM says is active',
    action: 'Look at it on the node: lvs {volume}; dmsetup info.',
  },
  LogicalVolumeNotReady: {
    message:
      'the logical volume {volume} is not ready to be recognised[: still to be done: {step}]',
    action: 'Have it active: lvchange -ay {volume}.',
  },
  AdoptedTagMissing: {
    message: 'no logical volume of {group} has the tag {tag}',
    action:
      'Check the group and the UID. One that MetalK8s made has no tag; if it is that, and nothing else, give it one: lvchange --addtag {tag} {group}/NAME.',
  },
  AdoptedTagOnSeveral: {
    message: 'several logical volumes of {group} have the tag {tag}: {first}, {second}',
    action:
      'Take it off all but the one that is to be adopted: lvchange --deltag {tag} {group}/NAME.',
  },
  AdoptedTagOfAnother: {
    message: 'the logical volume {volume} has the tag of another Volume, too, with the UID {uid}',
    action: 'Take off the tag that is wrong: lvchange --deltag stowage.dev/uid={uid} {volume}.',
  },
  AdoptedIsSnapshot: {
    message: "the logical volume {volume} is a snapshot, by its name, and no Volume's",
    action:
      'A snapshot is not adopted. Restore it: create a claim whose dataSource is its VolumeSnapshot.',
  },
  AdoptedNameTaken: {
    message: 'there is a logical volume {taken} already, and {volume} is to get that name',
    action: 'Name the Volume otherwise, or rename that logical volume if nothing needs its name.',
  },
  AdoptedIsNotThin: {
    message: 'the logical volume {volume} is not thin, and the Volume asks for {wanted}',
    action: 'Leave thinPool out.',
  },
  AdoptedInAnotherPool: {
    message:
      'the logical volume {volume} is of the thin pool {pool}, and the Volume asks for {wanted}',
    action: 'Set spec.lvmLogicalVolume.thinPool to {pool}.',
  },
  AdoptedTagGone: {
    message: '{volume} no longer has the tag {tag}',
  },
  VolumeGroupChanged: {
    message: 'the volume group {group} is no longer the one that was looked at, {uuid}',
  },
  LogicalVolumeChanged: {
    message: '{volume} is no longer the logical volume that was looked at',
  },
  FreeExtentsUnreadable: {
    message: '{disk} cannot be read anew',
  },
  FreeExtentsChanged: {
    message: 'what is in the free extents of {disk} changed since they were looked at',
  },
  LogicalVolumeMadeMeanwhile: {
    message: '{path} was made meanwhile',
  },
  LogicalVolumeNotAsMade: {
    message: '{path} is not the logical volume that was made',
  },
  UnfinishedChanged: {
    message: '{volume} is not what was just made',
  },
  LogicalVolumeUUIDDiffers: {
    message: '{path} does not have the UUID {uuid}',
  },
  FillGivenUp: {
    message: 'the volume is being deleted',
  },
  LogicalVolumeStays: {
    message: 'the logical volume {volume} is still there: it is active again, or has snapshots',
  },
  LogicalVolumeUnknown: {
    message:
      'the logical volume {volume} carries the tag of this Volume, and nothing says how far it was made: it may hold data',
    action:
      'If it holds none, remove it: lvremove {volume}. Or set spec.onDelete to Retain, and the Volume goes and leaves it.',
  },
  LogicalVolumeOfAnother: {
    message: '{volume} is on record for another Volume, too, [{other}][with the UID {uid}]',
    action: OR_RETAIN,
  },
  LogicalVolumeNotOurs: {
    message: '{volume} is not the logical volume that was made for this Volume',
    action: OR_RETAIN,
  },
  LogicalVolumeUnmarked: {
    message: 'nothing on the node says that {volume} was made for this Volume',
    action: OR_RETAIN,
  },
  LogicalVolumeNotAlone: {
    message:
      '{volume} has snapshots or is a part of something (lvs shows {type}), which would go with it',
    action: OR_RETAIN,
  },
  LogicalVolumeCarriesOther: {
    message: '{device} carries {content}, which is not of this Volume',
    action: OR_RETAIN,
  },
  LogicalVolumeInUse: {
    message: 'the logical volume {volume} ({device}) is in use: {uses}',
    action: `It is removed once nothing uses it any more.${USE_ENDS}`,
    cause: 'DeviceInUse',
  },
  ThinSnapshotNameTaken: {
    message: 'there is a logical volume {volume}, and nothing says that it is the snapshot {uid}',
    action: 'If it is, say so on the node: lvchange --addtag {tag} {volume}. Else rename it.',
  },
  ThinOriginMissing: {
    message: 'the logical volume {volume} of {name} is missing',
    action: 'Bring it back (vgcfgrestore, if it was removed). Nothing is taken of another.',
  },
  ThinOriginExchanged: {
    message: 'the logical volume {volume} of {name} is not the one that was made for it',
    action: 'Bring it back (vgcfgrestore, if it was removed). Nothing is taken of another.',
  },
  ThinOriginNotThin: {
    message: '{volume} is no thin volume (lvs shows it as {type}), and only those have snapshots',
    action: 'Copy its data within a pod, to a volume of a class with a thinPool.',
  },
  ThinOriginUntagged: {
    message: "{volume} has no tag of Stowage's yet",
    action: 'The snapshot is taken once that is over.',
  },
  ThinOriginUnwell: {
    message: '{volume} is not well (lvs shows {health})',
    action: 'The snapshot is taken once that is over.',
  },
  ThinOriginSuspended: {
    message:
      '{volume} or its thin pool is suspended: an LVM command is at work, or was interrupted',
    action: 'The snapshot is taken once that is over.',
  },
  ThinOriginGrowing: {
    message: '{volume} is larger than what was made in it: it is being grown',
    action: 'The snapshot is taken once that is over.',
  },
  ThinSnapshotInUse: {
    message: 'the snapshot {volume} is in use: a process has it open, or it is mounted',
    action: 'It is removed once nothing uses it any more.',
    cause: 'DeviceInUse',
  },
} as const satisfies Record<string, ReasonEntry>;
