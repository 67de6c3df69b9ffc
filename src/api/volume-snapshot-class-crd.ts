import { SNAPSHOT_GROUP } from './names.ts';
import { AGE, column, deletionPolicy, root, standardCrd, string } from './standard-crd.ts';

/** Of VolumeSnapshotClass, as kubernetes-csi/external-snapshotter has it. */
export const VOLUME_SNAPSHOT_CLASS_CRD = standardCrd({
  group: SNAPSHOT_GROUP,
  scope: 'Cluster',
  names: {
    kind: 'VolumeSnapshotClass',
    plural: 'volumesnapshotclasses',
    singular: 'volumesnapshotclass',
    shortNames: ['vsclass', 'vsclasses'],
  },
  approved: 'https://github.com/kubernetes-csi/external-snapshotter/pull/814',
  versions: [
    {
      name: 'v1',
      storage: true,
      columns: [column('Driver', '.driver'), column('DeletionPolicy', '.deletionPolicy'), AGE],
      schema: root('How snapshots are taken and kept.', ['deletionPolicy', 'driver'], {
        driver: string('Who takes them.'),
        deletionPolicy,
        parameters: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'For the driver.',
        },
      }),
    },
  ],
});
