import { SNAPSHOT_GROUP } from './names.ts';
import {
  AGE,
  column,
  fixed,
  keeps,
  lastError,
  oneOf,
  root,
  standardCrd,
  string,
  time,
} from './standard-crd.ts';

const spec = {
  type: 'object',
  description: 'What is to be snapshot, or which snapshot this is.',
  required: ['source'],
  properties: {
    source: {
      type: 'object',
      description: 'One of both. It does not change.',
      'x-kubernetes-validations': [
        keeps('persistentVolumeClaimName'),
        keeps('volumeSnapshotContentName'),
        oneOf('volumeSnapshotContentName', 'persistentVolumeClaimName'),
      ],
      properties: {
        persistentVolumeClaimName: fixed(
          'persistentVolumeClaimName',
          'The claim in this namespace of whose volume a snapshot is taken.',
        ),
        volumeSnapshotContentName: fixed(
          'volumeSnapshotContentName',
          'The VolumeSnapshotContent of a snapshot that is there already.',
        ),
      },
    },
    volumeSnapshotClassName: {
      ...string('The class of the snapshot; without one, the default class of the driver.'),
      'x-kubernetes-validations': [
        {
          rule: 'size(self) > 0',
          message: 'volumeSnapshotClassName must not be the empty string when set',
        },
      ],
    },
  },
};

const status = {
  type: 'object',
  description:
    'How far it is. It is no proof: the content named here must name this snapshot, too.',
  properties: {
    boundVolumeSnapshotContentName: string('The VolumeSnapshotContent that it is bound to.'),
    creationTime: time('The moment whose data the snapshot has.'),
    readyToUse: { type: 'boolean', description: 'Whether a volume can be made from it.' },
    restoreSize: {
      type: 'string',
      'x-kubernetes-int-or-string': true,
      pattern:
        '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
      description: 'How large a volume that is made from it must be at least.',
    },
    error: lastError,
    volumeGroupSnapshotName: string('The VolumeGroupSnapshot that it was taken with.'),
  },
};

/** Of VolumeSnapshot, as kubernetes-csi/external-snapshotter has it. */
export const VOLUME_SNAPSHOT_CRD = standardCrd({
  group: SNAPSHOT_GROUP,
  scope: 'Namespaced',
  names: {
    kind: 'VolumeSnapshot',
    plural: 'volumesnapshots',
    singular: 'volumesnapshot',
    shortNames: ['vs'],
  },
  approved: 'https://github.com/kubernetes-csi/external-snapshotter/pull/814',
  versions: [
    {
      name: 'v1',
      storage: true,
      hasStatus: true,
      columns: [
        column('ReadyToUse', '.status.readyToUse', 'boolean'),
        column('SourcePVC', '.spec.source.persistentVolumeClaimName'),
        column('SourceSnapshotContent', '.spec.source.volumeSnapshotContentName'),
        column('RestoreSize', '.status.restoreSize'),
        column('SnapshotClass', '.spec.volumeSnapshotClassName'),
        column('SnapshotContent', '.status.boundVolumeSnapshotContentName'),
        column('CreationTime', '.status.creationTime', 'date'),
        AGE,
      ],
      schema: root('A snapshot of the volume of a claim.', ['spec'], { spec, status }),
    },
  ],
});
