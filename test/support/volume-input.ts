import type { PersistentVolume, StorageClass } from '../../src/api/core.ts';
import type { Volume, VolumeStatus } from '../../src/api/volume.ts';
import type { Input } from '../../src/controllers/volume/types.ts';
import { transforms } from '../../src/manager/cache-transforms.ts';
import type { FileSystemPlace, ObservedDirectory } from '../../src/storage/directory/types.ts';
import type {
  BlockDevice,
  DesiredSparse,
  LoopFacts,
  ObservedSparse,
} from '../../src/storage/types.ts';

/** Parts of inputs for decisions about a sparse Volume. */

export const UID = '6e1c2b1f-7a54-4f0a-9c53-2f2d8f0b7e11';
export const FILE = `/var/lib/metalk8s/storage/sparse/${UID}`;
export const NOW = Date.parse('2026-01-02T03:04:05.000Z');
export const FINALIZER = 'storage.metalk8s.scality.com/volume-protection';

export function volume(status?: VolumeStatus, metadata: Partial<Volume['metadata']> = {}): Volume {
  return {
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    metadata: {
      name: 'data1',
      uid: UID,
      generation: 1,
      resourceVersion: '7',
      finalizers: [FINALIZER],
      ...metadata,
    },
    spec: {
      nodeName: 'n1',
      storageClassName: 'local',
      sparseLoopDevice: { size: '1Gi' },
      template: { metadata: { labels: { app: 'x' } } },
    },
    ...(status === undefined ? {} : { status }),
  };
}

export const storageClass: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local' },
  provisioner: 'kubernetes.io/no-provisioner',
  parameters: { fsType: 'ext4', mkfsOptions: '["-m", "0"]' },
  mountOptions: ['noatime'],
};

export function pv(
  phase: NonNullable<PersistentVolume['status']>['phase'],
  metadata: Partial<PersistentVolume['metadata']> = {},
): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'data1',
      uid: 'pv-uid',
      finalizers: [FINALIZER],
      ownerReferences: [
        {
          apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
          kind: 'Volume',
          name: 'data1',
          uid: UID,
        },
      ],
      ...metadata,
    },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
    ...(phase === undefined ? {} : { status: { phase } }),
  };
}

/** Volume of `volume`, as the input of plans. */
export const sparseDesired: DesiredSparse = {
  type: 'sparse',
  uid: UID,
  name: 'data1',
  mode: 'Filesystem',
  file: FILE,
  sizeBytes: 1n << 30n,
  fs: { type: 'ext4', options: [] },
  recorded: false,
  onDelete: 'Delete',
  kubeletRoot: '/var/lib/kubelet',
  onDemand: false,
  readOnly: false,
  shared: false,
};

/** Loop device in the format of lsblk, with or without a file. */
export const loopRow: BlockDevice = {
  name: 'loop3',
  device: '7:3',
  parent: undefined,
  type: 'loop',
  sizeBytes: 1n << 30n,
  readOnly: false,
  serial: undefined,
  wwn: undefined,
};

const rootPlace: FileSystemPlace = {
  uuid: '07f99387-d767-427c-84af-490d20627c13',
  type: 'ext4',
  source: '/dev/vda',
  path: '/var/lib/metalk8s/storage/sparse',
};

/** Recorded directory of the Volume, on the root file system. */
export const directory: ObservedDirectory = {
  directory: '/var/lib/metalk8s/storage/sparse',
  realPath: '/var/lib/metalk8s/storage/sparse',
  now: rootPlace,
  recorded: rootPlace,
  device: '254:0',
  mountPoint: '/',
  isRoot: true,
};

/** Directory whose own file system is not mounted. */
export const unmounted: ObservedDirectory = {
  ...directory,
  recorded: {
    uuid: 'b1b1b1b1-d767-427c-84af-490d20627c13',
    type: 'xfs',
    source: '/dev/vdb',
    path: '/',
  },
};

/** Node with nothing of the Volume. */
export const freshNode: ObservedSparse = {
  type: 'sparse',
  realPath: FILE,
  file: { type: 'missing' },
  partial: { type: 'missing' },
  signature: { found: 'none' },
  intent: undefined,
  done: undefined,
  wiped: undefined,
  recordFiles: false,
  loops: [],
  devices: [loopRow],
  swaps: [],
  mounts: new Map([['254:0', ['/']]]),
  link: undefined,
  udev: true,
  kubeletFolders: [],
  growsMounted: true,
  space: {
    directory: '/var/lib/metalk8s/storage/sparse',
    freeBytes: 1n << 40n,
    allocatedBytes: 0n,
  },
  directory,
};

export const loop: LoopFacts = {
  name: 'loop3',
  number: 3,
  device: '7:3',
  backingFile: FILE,
  backingInode: '42',
  autoclear: false,
  readOnly: false,
  wholeFile: true,
  sizeBytes: 1n << 30n,
};

/** Node with the provisioned, recorded and detached file of the Volume. */
export const madeNode: ObservedSparse = {
  ...freshNode,
  file: { type: 'file', sizeBytes: 1n << 30n, inode: '42' },
  space: { ...freshNode.space, allocatedBytes: 1n << 20n },
  signature: { found: 'one', type: 'ext4', uuid: UID },
  intent: {
    version: 1,
    uid: UID,
    file: FILE,
    sizeBytes: '1073741824',
    fsType: 'ext4',
    signature: 'none',
    consent: 'none',
  },
  done: { sizeBytes: 1n << 30n },
  recordFiles: true,
};

/** Node with the attached device and its persistent link. */
export const readyNode: ObservedSparse = { ...madeNode, loops: [loop], link: '7:3' };

/** Returns an input with objects as caches store them: decisions read no other fields. */
export function input(parts: Partial<Input>): Input {
  const whole: Input = {
    volume: volume(),
    node: 'n1',
    hostnamesOf: (names) => ({ labels: [...names] }),
    pv: undefined,
    storageClass,
    job: undefined,
    observation: undefined,
    forgotten: undefined,
    liveClass: undefined,
    livePv: undefined,
    pvRefused: undefined,
    observedAt: undefined,
    allotted: new Set(),
    attachmentEnabled: true,
    paused: undefined,
    kept: undefined,
    ...parts,
  };
  return {
    ...whole,
    volume: transforms.volumes(whole.volume),
    pv: whole.pv && transforms.persistentVolumes(whole.pv),
    storageClass: whole.storageClass && transforms.storageClasses(whole.storageClass),
  };
}
