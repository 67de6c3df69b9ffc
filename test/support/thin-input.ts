import type { LogicalVolume } from '../../src/storage/lvm/facts.ts';
import { tagOf, unfinishedTag } from '../../src/storage/lvm/names.ts';
import type { DesiredThinSnapshot, ObservedThinSnapshot } from '../../src/storage/lvm/snapshot.ts';
import type { DesiredLvm, ObservedLvm } from '../../src/storage/types.ts';
import { GIB, group, lvmNode, pool, thin, thinLv } from './lvm-input.ts';

/**
 * Parts of inputs for plans of thin snapshots of a thin volume, and of volumes that are restored
 * from them.
 */

export const SNAP_UID = '6b3f0a52-1111-4c7e-8a53-9a1d8f0b7e22';
export const SNAP = `snap-${SNAP_UID}`;

export const thinOrigin: DesiredLvm = { ...thin, recorded: true };

export const wantedSnap: DesiredThinSnapshot = {
  type: 'lvm',
  uid: SNAP_UID,
  vgName: 'vg0',
  name: SNAP,
  volume: thinOrigin,
};

export const snapLv: LogicalVolume = {
  ...thinLv,
  name: SNAP,
  uuid: 'abcdef-5555-6666-7777-8888-9999-SNUUID',
  tags: [tagOf(SNAP_UID)],
  origin: 'data1',
  writable: false,
  active: false,
  device: undefined,
  dataPercent: undefined,
};

/** Snapshot of a killed lvcreate. */
export const left: LogicalVolume = { ...snapLv, tags: [unfinishedTag(SNAP_UID)] };

export const snapped: ObservedThinSnapshot = {
  type: 'lvm',
  groups: [group],
  volumes: [thinLv, pool],
  done: { sizeBytes: GIB },
};

/** Volume that is restored from the snapshot. */
export const RESTORED_UID = '6c3f0a52-2222-4c7e-8a53-9a1d8f0b7e33';
export const restoredThin: DesiredLvm = {
  ...thin,
  uid: RESTORED_UID,
  name: 'data2',
  sizeBytes: 2n * GIB,
  onDelete: 'Delete',
  source: { what: 'snapshot', vgName: 'vg0', name: SNAP, uid: SNAP_UID, mode: 'Filesystem' },
};

export const beside = (
  volumes: readonly LogicalVolume[],
  more: Partial<ObservedLvm> = {},
): ObservedLvm => lvmNode({ volumes, free: [], ...more });
