import { SNAPSHOT_GROUP } from './names.ts';
import { AGE, column, root, standardCrd } from './standard-crd.ts';

/** Of VolumeSnapshotLink, of which there is no more than its description in KEP-3294. */
export const VOLUME_SNAPSHOT_LINK_CRD = standardCrd({
  group: SNAPSHOT_GROUP,
  scope: 'Namespaced',
  names: {
    kind: 'VolumeSnapshotLink',
    plural: 'volumesnapshotlinks',
    singular: 'volumesnapshotlink',
  },
  approved: 'unapproved, a proposal: https://github.com/kubernetes/enhancements/issues/3294',
  versions: [
    {
      name: 'v1alpha1',
      storage: true,
      columns: [
        column('SourceNamespace', '.spec.source.namespace'),
        column('SourceName', '.spec.source.name'),
        AGE,
      ],
      schema: root(
        'A snapshot, of another namespace as well, under a name of this namespace.',
        ['spec'],
        {
          spec: {
            type: 'object',
            description: 'Which snapshot.',
            required: ['source'],
            properties: {
              source: {
                type: 'object',
                description: 'The VolumeSnapshot. It does not change.',
                required: ['name'],
                'x-kubernetes-validations': [
                  { rule: 'self == oldSelf', message: 'source is immutable' },
                ],
                properties: {
                  name: { type: 'string', minLength: 1, maxLength: 253, description: 'Its name.' },
                  namespace: {
                    type: 'string',
                    maxLength: 63,
                    description:
                      "Its namespace; absent or empty: the link's own. Another one must have a ReferenceGrant that allows it.",
                  },
                },
              },
            },
          },
        },
      ),
    },
  ],
});
