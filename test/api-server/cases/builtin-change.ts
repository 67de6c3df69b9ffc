import { onNode } from '../../support/volumes.ts';
import {
  capacity,
  claim,
  deployment,
  metadata,
  ours,
  PATHS,
  pod,
  roleRef,
  volume,
} from '../builtin.ts';
import { MERGE } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const storageClass = { metadata, provisioner: 'p', parameters: { a: 'b' } };
const binding = { metadata, roleRef };
const sealed = { metadata, data: { a: 'YQ==' }, immutable: true };

const changes: [string, keyof typeof PATHS, object, object, string?][] = [
  ['source of a volume', 'volumes', volume(), { spec: { hostPath: { path: '/y' } } }],
  ['mode of a volume', 'volumes', volume(), { spec: { volumeMode: 'Block' } }],
  [
    'affinity taken away',
    'volumes',
    volume({ nodeAffinity: onNode('n1') }),
    { spec: { nodeAffinity: null } },
  ],
  ['absent affinity', 'volumes', volume(), { spec: { nodeAffinity: onNode('n1') } }],
  ['capacity', 'volumes', volume(), { spec: { capacity: { storage: '2Gi' } } }],
  ['policy', 'volumes', volume(), { spec: { persistentVolumeReclaimPolicy: 'Delete' } }],
  [
    'status of a volume',
    'volumes',
    volume(),
    { status: { phase: 'Failed', message: 'm' } },
    'status',
  ],
  ['access modes of a claim', 'claims', claim(), { spec: { accessModes: ['ReadWriteMany'] } }],
  [
    'class of a claim',
    'claims',
    claim({ storageClassName: 'a' }),
    { spec: { storageClassName: 'b' } },
  ],
  ['size of a claim that is not bound', 'claims', claim(), size('2Gi')],
  ['volume of a claim', 'claims', claim(), { spec: { volumeName: 'v' } }],
  ['mode of a claim', 'claims', claim(), { spec: { volumeMode: 'Block' } }],
  ['labels of a claim', 'claims', claim(), { metadata: { annotations: { a: 'b' } } }],
  ['provisioner', 'classes', storageClass, { provisioner: 'q' }],
  ['parameters', 'classes', storageClass, { parameters: { a: 'c' } }],
  ['reclaimPolicy', 'classes', storageClass, { reclaimPolicy: 'Retain' }],
  ['default that is taken away', 'classes', storageClass, { reclaimPolicy: null }],
  ['binding mode', 'classes', storageClass, { volumeBindingMode: 'WaitForFirstConsumer' }],
  ['expansion', 'classes', storageClass, { allowVolumeExpansion: true }],
  ['mount options of a class', 'classes', storageClass, { mountOptions: ['ro'] }],
  ['driver', 'drivers', { metadata, spec: {} }, { spec: { storageCapacity: true } }],
  ['what a driver is', 'drivers', { metadata, spec: {} }, { spec: { attachRequired: false } }],
  [
    'how a driver lives',
    'drivers',
    { metadata, spec: {} },
    { spec: { volumeLifecycleModes: ['Ephemeral'] } },
  ],
  ['room', 'capacities', capacity(), { capacity: '1Gi' }],
  ['room elsewhere', 'capacities', capacity(), { nodeTopology: { matchLabels: { a: 'b' } } }],
  ['room of another class', 'capacities', capacity(), { storageClassName: 'other' }],
  [
    'status of a claim',
    'claims',
    claim(),
    {
      status: {
        phase: 'Bound',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '2Gi' },
        allocatedResources: { storage: '2Gi' },
        conditions: [
          {
            type: 'FileSystemResizePending',
            status: 'True',
            lastTransitionTime: '2026-01-02T03:04:05Z',
          },
        ],
      },
    },
    'status',
  ],
  ['role of a binding', 'clusterRoleBindings', binding, { roleRef: { name: 'other' } }],
  ['subjects of a binding', 'roleBindings', binding, { subjects: [{ kind: 'User', name: 'u' }] }],
  ['selector', 'deployments', deployment(), { spec: { selector: { matchLabels: { b: 'c' } } } }],
  ['replicas', 'deployments', deployment(), { spec: { replicas: 0, paused: true } }],
  ['sealed data', 'secrets', sealed, { data: { a: 'Yg==' } }],
  ['seal', 'secrets', sealed, { immutable: false }],
  ['type of a secret', 'secrets', { metadata }, { type: 'other' }],
  ['sealed configmap', 'configMaps', { ...sealed, data: { a: 'b' } }, { data: { a: 'c' } }],
  [
    'lease',
    'leases',
    { metadata, spec: { holderIdentity: 'a' } },
    { spec: { holderIdentity: 'b' } },
  ],
  ['image of a pod', 'pods', pod(), { spec: { containers: [{ name: 'a', image: 'y' }] } }],
  ['node of a pod', 'pods', pod(), { spec: { nodeName: 'other' } }],
  ['status of a pod', 'pods', pod(), { status: { phase: 'Running' } }, 'status'],
  ['status of a node', 'nodes', { metadata }, { status: { capacity: { cpu: '1' } } }, 'status'],
  ['status of a node beside it', 'nodes', { metadata }, { status: { capacity: { cpu: '1' } } }],
  ['spec of a node', 'nodes', { metadata }, { spec: { unschedulable: true } }],
];

function size(storage: string) {
  return { spec: { resources: { requests: { storage } } } };
}

const steps = (path: string, object: object, change: object, subresource = ''): Step[] => {
  const at = (name: unknown) => `${path}/${name}${subresource === '' ? '' : `/${subresource}`}`;
  // Waits so that the binder writes nothing between the two.
  const phase = path === PATHS.volumes ? { phase: 'Available' } : undefined;
  return [
    ['POST', path, object],
    ([made]) => ({
      at: at(made?.body.metadata.name),
      has: phase === undefined ? {} : { status: phase },
    }),
    ([made]) => ['PATCH', at(made?.body.metadata.name), change, MERGE],
  ];
};

export const builtinChange = recorded(
  'builtin-change',
  Object.values(PATHS).map(ours),
  Object.fromEntries(
    changes.map(([title, path, object, change, subresource]): [string, Step[]] => [
      title,
      steps(PATHS[path], object, change, subresource),
    ]),
  ),
);
