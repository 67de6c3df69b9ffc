import type { Extents, LogicalVolume, VolumeGroup } from '../../src/storage/lvm/facts.ts';
import { dmUuidOf, tagOf } from '../../src/storage/lvm/names.ts';
import type { DesiredLvm, DeviceFacts, Intent, ObservedLvm } from '../../src/storage/types.ts';
import { disk } from './raw-input.ts';
import { UID } from './volume-input.ts';

/**
 * Parts of observations of a logical volume. By default, the group has free space and no volume.
 */

export const MIB = 1n << 20n;
export const GIB = 1n << 30n;
export const VG_UUID = 'abcdef-0000-1111-2222-3333-4444-VGUUID';
export const POOL_UUID = 'abcdef-5555-6666-7777-8888-9999-PLUUID';
export const LV_UUID = 'abcdef-5555-6666-7777-8888-9999-LVUUID';

export const lvmDesired: DesiredLvm = {
  type: 'lvm',
  uid: UID,
  name: 'data1',
  mode: 'Filesystem',
  fs: { type: 'ext4', options: [] },
  recorded: false,
  onDelete: 'Retain',
  kubeletRoot: '/var/lib/kubelet',
  vgName: 'vg0',
  thinPool: undefined,
  sizeBytes: GIB,
  overwrite: undefined,
  forced: false,
  identity: undefined,
};
export const lvmBlock: DesiredLvm = { ...lvmDesired, mode: 'Block', fs: undefined };
export const thin: DesiredLvm = { ...lvmDesired, thinPool: 'pool' };

export const group: VolumeGroup = {
  name: 'vg0',
  uuid: VG_UUID,
  readOnly: false,
  exported: false,
  partial: false,
  shared: false,
  extentBytes: 4n * MIB,
  freeExtents: 1000n,
  disks: ['/dev/sda', '/dev/sdb'],
};

export const lv: LogicalVolume = {
  name: 'data1',
  uuid: LV_UUID,
  kind: '-',
  writable: true,
  active: true,
  suspended: false,
  open: false,
  health: '-',
  zeroes: false,
  sizeBytes: GIB,
  tags: [tagOf(UID)],
  pool: undefined,
  origin: undefined,
  device: '253:3',
  dataPercent: undefined,
  metadataPercent: undefined,
  striped: false,
};
export const thinLv: LogicalVolume = { ...lv, kind: 'V', pool: 'pool', dataPercent: 0 };
export const pool: LogicalVolume = {
  ...lv,
  name: 'pool',
  uuid: POOL_UUID,
  kind: 't',
  zeroes: true,
  tags: [],
  sizeBytes: 2n * GIB,
  dataPercent: 10,
  metadataPercent: 12,
  device: '253:2',
};
/** Inactive thin pool. */
export const asleep: LogicalVolume = {
  ...pool,
  active: false,
  device: undefined,
  dataPercent: undefined,
};

export const free: Extents = {
  pv: '/dev/vdb',
  first: 10n,
  count: 256n,
  offsetBytes: 11n * MIB,
  sizeBytes: GIB,
  content: '',
  blkid: '',
  blkidExit: 2,
};

/** Device of `lv`. */
export const dm: DeviceFacts = {
  ...disk,
  name: 'dm-3',
  device: '253:3',
  type: 'lvm',
  sizeBytes: GIB,
  serial: undefined,
  wwn: undefined,
  identity: `dm=${dmUuidOf(VG_UUID, LV_UUID)} size=${GIB}`,
  dmUuid: dmUuidOf(VG_UUID, LV_UUID),
};
export const ext4: DeviceFacts = {
  ...dm,
  signature: { found: 'one', type: 'ext4', uuid: UID },
  content: `ext4:${UID}`,
  uuids: [UID],
};

/** Returns a node with the group, and nothing of the Volume. */
export const lvmNode = (more: Partial<ObservedLvm> = {}): ObservedLvm => ({
  type: 'lvm',
  groups: [group],
  passedOver: [],
  volumes: [],
  free: [free],
  target: { is: 'missing' },
  others: [],
  intent: undefined,
  done: undefined,
  wiped: undefined,
  recordFiles: false,
  loops: [],
  devices: [],
  swaps: [],
  mounts: new Map(),
  link: undefined,
  udev: true,
  kubeletFolders: [],
  space: { directory: '/dev/vg0', freeBytes: 4000n * MIB, allocatedBytes: 0n },
  ...more,
});

export const intent: Intent = {
  version: 1,
  uid: UID,
  device: { path: '/dev/vg0/data1', identity: `vg=${VG_UUID}` },
  sizeBytes: String(GIB),
  fsType: 'ext4',
  signature: 'none',
  consent: 'none',
};

/** Returns a node with an unfinished logical volume, which is active and has these device facts. */
export const begun = (facts: DeviceFacts = dm, more: Partial<ObservedLvm> = {}): ObservedLvm =>
  lvmNode({
    volumes: [lv],
    free: [],
    target: { is: 'device', facts },
    devices: [facts],
    intent,
    recordFiles: true,
    ...more,
  });

/** Returns a node with a complete logical volume and its persistent link. */
export const lvmMade = (facts: DeviceFacts = ext4, more: Partial<ObservedLvm> = {}): ObservedLvm =>
  begun(facts, { done: { sizeBytes: GIB }, link: facts.device, ...more });

/** Returns the same node with an unusual logical volume (`madeAs`) or group (`madeIn`). */
export const madeAs = (change: Partial<LogicalVolume>): ObservedLvm =>
  lvmMade(ext4, { volumes: [{ ...lv, ...change }] });
export const madeIn = (change: Partial<VolumeGroup>): ObservedLvm =>
  lvmMade(ext4, { groups: [{ ...group, ...change }] });
