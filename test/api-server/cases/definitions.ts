import { DISK_CRD } from '../disk-crd.ts';
import { MERGE } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

type Version = Record<string, unknown>;
const crd = (spec: object = {}, version: Version = {}, metadata: object = {}) => ({
  metadata: { name: 'tapes.example.com', labels: { 'example.com/case': '' }, ...metadata },
  spec: {
    ...DISK_CRD.spec,
    names: { plural: 'tapes', kind: 'Tape' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
        ...version,
      },
    ],
    ...spec,
  },
});
const create = (...given: Parameters<typeof crd>): Step => ['POST', CRDS, crd(...given)];
const established: Step = {
  at: `${CRDS}/tapes.example.com`,
  has: {
    status: { conditions: [{ type: 'NamesAccepted' }, { type: 'Established', status: 'True' }] },
  },
};

export const definitions = recorded('definitions', [`${CRDS}?labelSelector=example.com%2Fcase`], {
  'a definition': [create(), established, ['GET', `${CRDS}/tapes.example.com`]],
  'a definition of another name': [create({}, {}, { name: 'other.example.com' })],
  'no schema': [create({}, { schema: undefined })],
  'no group': [create({ group: undefined })],
  'an odd scope': [create({ scope: 'World' })],
  'a changed schema': [
    create(),
    established,
    ['PATCH', `${CRDS}/tapes.example.com`, { spec: { scope: 'Namespaced' } }, MERGE],
    ['PATCH', `${CRDS}/tapes.example.com`, { metadata: { annotations: { a: 'b' } } }, MERGE],
  ],
});
