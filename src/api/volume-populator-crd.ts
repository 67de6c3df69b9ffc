import { column, root, standardCrd, string } from './standard-crd.ts';

/** Of VolumePopulator, as kubernetes-csi/volume-data-source-validator has it. */
export const VOLUME_POPULATOR_CRD = standardCrd({
  group: 'populator.storage.k8s.io',
  scope: 'Cluster',
  names: { kind: 'VolumePopulator', plural: 'volumepopulators', singular: 'volumepopulator' },
  approved: 'https://github.com/kubernetes/enhancements/pull/2934',
  versions: [
    {
      name: 'v1beta1',
      storage: true,
      columns: [column('SourceKind', '.sourceKind')],
      schema: root('Says that somebody fills volumes from a kind of data source.', ['sourceKind'], {
        sourceKind: {
          type: 'object',
          description: 'What spec.dataSourceRef of a claim then names.',
          required: ['group', 'kind'],
          properties: { group: string('Its API group.'), kind: string('Its kind.') },
        },
      }),
    },
  ],
});
