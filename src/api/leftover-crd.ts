import { KEPT_FIELDS } from './leftover.ts';
import { STOWAGE_GROUP, STOWAGE_VERSION } from './names.ts';
import { column, spec as volumeSpec, status as volumeStatus } from './volume-crd.ts';

const { phase, conditions, job, attempt, observedGeneration, prepared } = volumeStatus.properties;
const { nodeName } = volumeSpec.properties;
const kept = Object.fromEntries(KEPT_FIELDS.map((field) => [field, volumeSpec.properties[field]]));

/** The CustomResourceDefinition (apiextensions.k8s.io/v1) of Leftover. */
export const LEFTOVER_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `leftovers.${STOWAGE_GROUP}` },
  spec: {
    group: STOWAGE_GROUP,
    scope: 'Cluster',
    names: {
      kind: 'Leftover',
      listKind: 'LeftoverList',
      plural: 'leftovers',
      singular: 'leftover',
    },
    versions: [
      {
        name: STOWAGE_VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          column('Volume', '.spec.volumeName', 'The Volume that it was of'),
          column('Node', '.spec.nodeName', 'The node that it is on'),
          column('Job', '.status.job', 'The work under way on the node'),
          column(
            'Message',
            '.status.conditions[?(@.type=="Ready")].message',
            'Why it is still there, as last seen',
          ),
          column('Age', '.metadata.creationTimestamp', 'Time since its creation'),
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description:
              'What a deleted Volume left on a lost node. It is removed there once the node is back; deleting this object leaves it there.',
            required: ['spec'],
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              metadata: { type: 'object' },
              spec: {
                type: 'object',
                description: 'What is left, and where.',
                required: ['nodeName', 'volumeName', 'uid', 'storageClassName'],
                'x-kubernetes-validations': [
                  { rule: 'self == oldSelf', message: 'spec is immutable' },
                ],
                properties: {
                  nodeName,
                  volumeName: {
                    type: 'string',
                    maxLength: 253,
                    description: 'The Volume that it was of.',
                  },
                  uid: { type: 'string', maxLength: 36, description: 'The UID of that Volume.' },
                  ...kept,
                  prepared,
                  job: { ...job, description: 'The last job of the Volume.' },
                  attempt,
                },
              },
              status: {
                type: 'object',
                description: 'How far its removal is, as last seen.',
                properties: { phase, conditions, job, attempt, observedGeneration },
              },
            },
          },
        },
      },
    ],
  },
};
