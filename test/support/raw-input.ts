import type { DesiredRaw, DeviceFacts, Intent, ObservedRaw } from '../../src/storage/types.ts';
import { UID } from './volume-input.ts';

/** Parts of observations of a raw device, by default an empty disk. */

export const IDENTITY = 'wwn=0x5000 serial=S1 size=1073741824';
export const PARTUUID = '40e162ae-83fa-4338-a322-5ddf937e6ba5';

export const rawDesired: DesiredRaw = {
  type: 'raw',
  uid: UID,
  name: 'data1',
  mode: 'Filesystem',
  fs: { type: 'ext4', options: [] },
  recorded: false,
  onDelete: 'Delete',
  kubeletRoot: '/var/lib/kubelet',
  devicePath: '/dev/disk/by-id/wwn-0x5000',
  overwrite: undefined,
  identity: undefined,
};
export const rawBlock: DesiredRaw = { ...rawDesired, mode: 'Block', fs: undefined };

export const disk: DeviceFacts = {
  name: 'sdb',
  device: '8:16',
  parent: undefined,
  type: 'disk',
  sizeBytes: 1n << 30n,
  readOnly: false,
  serial: 'S1',
  wwn: '0x5000',
  signature: { found: 'none' },
  content: '',
  isBlank: undefined,
  uuids: [],
  identity: IDENTITY,
  printedParts: [],
  printed: {
    identity: 'sdb 8:16  disk 1073741824 0 S1 0x5000',
    below: 'sdb 8:16  disk 1073741824 0 S1 0x5000',
    blkid: '',
    blkidExit: 2,
    wipefs: '{"signatures": []}',
  },
  partition: undefined,
  presence: 'b00t/7',
  disk: undefined,
  tableUuids: [],
  dmUuid: undefined,
  partitions: [],
  partitionUuids: [],
  otherPaths: [],
};

export const partition: DeviceFacts = {
  ...disk,
  name: 'sdb2',
  device: '8:18',
  parent: 'sdb',
  type: 'part',
  serial: undefined,
  wwn: undefined,
  uuids: [PARTUUID],
  identity: 'wwn=0x5000 serial=S1 partition=2 size=1073741824',
  printed: {
    identity: 'sdb2 8:18 sdb part 1073741824 0  ',
    below: 'sdb2 8:18 sdb part 1073741824 0  ',
    blkid: `DEVNAME=/dev/sdb2\nPART_ENTRY_SCHEME=gpt\nPART_ENTRY_UUID=${PARTUUID}\nPART_ENTRY_NUMBER=2`,
    blkidExit: 0,
    wipefs: '{"signatures": []}',
  },
  partition: { number: 2, inTable: 2, scheme: 'gpt', uuid: PARTUUID },
  disk,
};

export const logical: DeviceFacts = {
  ...disk,
  name: 'dm-0',
  device: '252:0',
  type: 'lvm',
  serial: undefined,
  wwn: undefined,
  identity: 'dm=LVM-abc size=1073741824',
  dmUuid: 'LVM-abc',
};

/** Returns a node with the device, and nothing else of the Volume. */
export function rawNode(facts: DeviceFacts, more: Partial<ObservedRaw> = {}): ObservedRaw {
  return {
    type: 'raw',
    target: { is: 'device', facts },
    others: [],
    intent: undefined,
    done: undefined,
    wiped: undefined,
    recordFiles: false,
    loops: [],
    devices: [facts, ...facts.partitions],
    swaps: [],
    mounts: new Map(),
    link: undefined,
    udev: true,
    kubeletFolders: [],
    ...more,
  };
}

/** Returns the record from before the first write to the device. */
export function intentFor(facts: DeviceFacts, more: Partial<Intent> = {}): Intent {
  return {
    version: 1,
    uid: UID,
    device: {
      path: rawDesired.devicePath,
      identity: facts.identity,
      ...(facts.presence === undefined ? {} : { presence: facts.presence }),
      ...(facts.dmUuid === undefined ? {} : { dmUuid: facts.dmUuid }),
      ...(facts.partition === undefined ? {} : { partuuid: facts.partition.uuid }),
    },
    sizeBytes: String(facts.sizeBytes),
    fsType: 'ext4',
    signature: 'none',
    consent: 'none',
    ...more,
  };
}

/** Returns a node whose records show that the device was provisioned. */
export const rawMade = (facts: DeviceFacts, more: Partial<ObservedRaw> = {}): ObservedRaw =>
  rawNode(facts, {
    intent: intentFor(facts),
    done: { sizeBytes: facts.sizeBytes },
    recordFiles: true,
    ...more,
  });
