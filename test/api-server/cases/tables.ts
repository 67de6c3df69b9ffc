import {
  capacity,
  claim,
  event,
  localVolume,
  metadata,
  ours,
  PATHS,
  pod,
  roleRef,
  rule,
  volume,
} from '../builtin.ts';
import { recorded, type Step } from '../recorded.ts';

const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
const named = (object: object, name = 'x-table') => ({
  ...object,
  metadata: { ...metadata, name },
});

const table = (path: keyof typeof PATHS, object: object, ...waits: Step[]): Step[] => [
  ['POST', PATHS[path], object],
  ...waits,
  ['GET', ours(PATHS[path]), undefined, TABLE],
];

export const tables = recorded('tables', Object.values(PATHS).map(ours), {
  volumes: table('volumes', named(localVolume({ storageClassName: 's' })), {
    at: `${PATHS.volumes}/x-table`,
    has: { status: { phase: 'Available' } },
  }),
  'a reserved volume': table(
    'volumes',
    named(
      volume({
        claimRef: { namespace: 'other', name: 'c' },
        accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
      }),
    ),
    { at: `${PATHS.volumes}/x-table`, has: { status: { phase: 'Available' } } },
  ),
  claims: table('claims', named(claim())),
  classes: table('classes', named({ provisioner: 'p' })),
  'the default class': table('classes', {
    provisioner: 'p',
    metadata: {
      ...metadata,
      name: 'x-table',
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
    },
  }),
  drivers: table('drivers', named({ spec: { storageCapacity: true } })),
  capacities: table('capacities', named(capacity())),
  leases: table('leases', named({ spec: { holderIdentity: 'me' } })),
  configMaps: table('configMaps', named({ data: { a: 'b', c: 'd' } })),
  secrets: table('secrets', named({ stringData: { a: 'b' } })),
  accounts: table('accounts', named({})),
  events: table(
    'events',
    named(
      event({
        reason: 'R',
        message: 'm',
        type: 'Warning',
        count: 3,
        source: { component: 's', host: 'h' },
      }),
    ),
  ),
  pods: table('pods', named(pod())),
  nodes: table('nodes', named({ status: { conditions: [{ type: 'Ready', status: 'True' }] } })),
  namespaces: table('namespaces', named({})),
  clusterRoles: table('clusterRoles', named({ rules: [rule] })),
  roles: table('roles', named({ rules: [rule] })),
  clusterRoleBindings: table(
    'clusterRoleBindings',
    named({ roleRef, subjects: [{ kind: 'User', name: 'u' }] }),
  ),
  roleBindings: table(
    'roleBindings',
    named({ roleRef, subjects: [{ kind: 'ServiceAccount', name: 's', namespace: 'n' }] }),
  ),
  'of one object': [
    ['POST', PATHS.configMaps, named({})],
    ['GET', `${PATHS.configMaps}/x-table`, undefined, TABLE],
    ['GET', `${PATHS.configMaps}/x-table?includeObject=Object`, undefined, TABLE],
    ['GET', `${PATHS.configMaps}/x-table?includeObject=None`, undefined, TABLE],
    ['GET', `${PATHS.configMaps}/x-table?includeObject=Huh`, undefined, TABLE],
  ],
  'of nothing': [['GET', ours(PATHS.configMaps), undefined, TABLE]],
  'of a page': [
    ['POST', PATHS.configMaps, named({}, 'x-1')],
    ['POST', PATHS.configMaps, named({}, 'x-2')],
    [
      'GET',
      `${ours(PATHS.configMaps)}&limit=1&fieldSelector=metadata.name%3Dx-1`,
      undefined,
      TABLE,
    ],
  ],
  'of an older version': [
    [
      'GET',
      ours(PATHS.nodes),
      undefined,
      { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' },
    ],
    ['GET', PATHS.nodes, undefined, { accept: 'application/json;as=Huh;v=v1;g=meta.k8s.io' }],
    ['GET', `${PATHS.nodes}/nowhere`, undefined, TABLE],
  ],
});
