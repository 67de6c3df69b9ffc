import { DISK_CRD } from '../disk-crd.ts';
import { MERGE } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const TAPES = '/apis/example.com/v1/tapes';

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
const schema = (properties: object): Version => ({
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: properties } } },
});
const established: Step = {
  at: `${CRDS}/tapes.example.com`,
  has: { status: { conditions: [{ type: 'NamesAccepted' }, { type: 'Established', status: 'True' }] } },
};

export const definitions = recorded('definitions', [`${CRDS}?labelSelector=example.com%2Fcase`], {
  'a definition': [create(), established, ['GET', `${CRDS}/tapes.example.com`]],
  'a definition of another name': [create({}, {}, { name: 'other.example.com' })],
  'no versions': [create({ versions: [] })],
  'no storage version': [create({}, { storage: false })],
  'no schema': [create({}, { schema: undefined })],
  'no group': [create({ group: undefined })],
  'no names': [create({ names: undefined })],
  'an odd scope': [create({ scope: 'World' })],
  'a schema of no type': [create({}, schema({}))],
  'a schema of an odd type': [create({}, schema({ type: 'text' }))],
  'a schema with an unknown keyword': [create({}, schema({ type: 'object', huh: 1 }))],
  'a rule that is none': [
    create({}, schema({ type: 'object', 'x-kubernetes-validations': [{ rule: 'self ==' }] })),
  ],
  'a rule about an unknown field': [
    create({}, schema({ type: 'object', 'x-kubernetes-validations': [{ rule: 'self.huh == 1' }] })),
  ],
  'a map list without keys': [
    create({}, schema({ type: 'array', 'x-kubernetes-list-type': 'map', items: { type: 'object' } })),
  ],
  'a default of a wrong type': [create({}, schema({ type: 'string', default: 5 }))],
  'a column of a bad path': [
    create({}, { additionalPrinterColumns: [{ name: 'a', type: 'string', jsonPath: 'spec' }] }),
  ],
  'a column of an odd type': [
    create({}, { additionalPrinterColumns: [{ name: 'a', type: 'text', jsonPath: '.spec' }] }),
  ],
  'what it defines comes and goes with it': [
    ['GET', TAPES],
    create(),
    established,
    { at: TAPES, has: { kind: 'TapeList' } },
    ['POST', TAPES, { apiVersion: 'example.com/v1', kind: 'Tape', metadata: { name: 'a' }, spec: { a: 1 } }],
    ['DELETE', `${CRDS}/tapes.example.com`],
    { at: `${CRDS}/tapes.example.com`, has: { code: 404 } },
    { at: TAPES, has: { code: 404 } },
    ['GET', `${TAPES}/a`],
  ],
  'a changed schema': [
    create(),
    established,
    ['PATCH', `${CRDS}/tapes.example.com`, { spec: { scope: 'Namespaced' } }, MERGE],
    ['PATCH', `${CRDS}/tapes.example.com`, { metadata: { annotations: { a: 'b' } } }, MERGE],
  ],
});
