import { SNAPSHOT_GROUP } from './names.ts';
import {
  AGE,
  column,
  deletionPolicy,
  fixed,
  keeps,
  lastError,
  oneOf,
  root,
  standardCrd,
  string,
} from './standard-crd.ts';

const spec = {
  type: 'object',
  description: 'Whose snapshot this is, and where it comes from.',
  required: ['deletionPolicy', 'driver', 'source', 'volumeSnapshotRef'],
  'x-kubernetes-validations': [keeps('sourceVolumeMode')],
  properties: {
    deletionPolicy,
    driver: string('Who takes and removes the snapshot.'),
    source: {
      type: 'object',
      description: 'One of both. It does not change.',
      'x-kubernetes-validations': [
        keeps('volumeHandle'),
        keeps('snapshotHandle'),
        oneOf('volumeHandle', 'snapshotHandle'),
      ],
      properties: {
        volumeHandle: fixed(
          'volumeHandle',
          'The volume of which a snapshot is taken, as the driver calls it.',
        ),
        snapshotHandle: fixed(
          'snapshotHandle',
          'A snapshot that is there already, as the driver calls it.',
        ),
      },
    },
    sourceVolumeMode: fixed('sourceVolumeMode', 'The mode of the volume: Filesystem or Block.'),
    volumeSnapshotClassName: string(
      'The class that it was taken by. The class may be gone, or another one.',
    ),
    volumeSnapshotRef: {
      type: 'object',
      description: 'The VolumeSnapshot that this belongs to.',
      'x-kubernetes-map-type': 'atomic',
      'x-kubernetes-validations': [
        {
          rule: 'has(self.name) && has(self.__namespace__)',
          message:
            'both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace must be set',
        },
      ],
      properties: {
        apiVersion: string('Its API version.'),
        fieldPath: string('Not used.'),
        kind: string('Its kind.'),
        name: string('Its name.'),
        namespace: string('Its namespace.'),
        resourceVersion: string('Not used.'),
        uid: string('Its UID: one that is made anew under its name is another.'),
      },
    },
  },
};

const status = {
  type: 'object',
  description: 'What the driver says of the snapshot.',
  properties: {
    creationTime: {
      type: 'integer',
      format: 'int64',
      description: 'The moment whose data it has, in nanoseconds since the epoch.',
    },
    error: lastError,
    readyToUse: { type: 'boolean', description: 'Whether a volume can be made from it.' },
    restoreSize: {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      description: 'How large a volume that is made from it must be at least, in bytes.',
    },
    snapshotHandle: string('The snapshot, as the driver calls it.'),
    volumeGroupSnapshotHandle: string(
      'The group of snapshots that it was taken with, as the driver calls it.',
    ),
  },
};

/** Of VolumeSnapshotContent, as kubernetes-csi/external-snapshotter has it. */
export const VOLUME_SNAPSHOT_CONTENT_CRD = standardCrd({
  group: SNAPSHOT_GROUP,
  scope: 'Cluster',
  names: {
    kind: 'VolumeSnapshotContent',
    plural: 'volumesnapshotcontents',
    singular: 'volumesnapshotcontent',
    shortNames: ['vsc', 'vscs'],
  },
  approved: 'https://github.com/kubernetes-csi/external-snapshotter/pull/955',
  versions: [
    {
      name: 'v1',
      storage: true,
      hasStatus: true,
      columns: [
        column('ReadyToUse', '.status.readyToUse', 'boolean'),
        column('RestoreSize', '.status.restoreSize', 'integer'),
        column('DeletionPolicy', '.spec.deletionPolicy'),
        column('Driver', '.spec.driver'),
        column('VolumeSnapshotClass', '.spec.volumeSnapshotClassName'),
        column('VolumeSnapshot', '.spec.volumeSnapshotRef.name'),
        column('VolumeSnapshotNamespace', '.spec.volumeSnapshotRef.namespace'),
        AGE,
      ],
      schema: root('A snapshot in the storage.', ['spec'], { spec, status }),
    },
  ],
});
