import { onNode } from '../support/volumes.ts';

/**
 * Paths of built-in kinds. The objects below have generated names, and only the fields that the API
 * server requires.
 */

export const PATHS = {
  volumes: '/api/v1/persistentvolumes',
  claims: '/api/v1/namespaces/default/persistentvolumeclaims',
  classes: '/apis/storage.k8s.io/v1/storageclasses',
  drivers: '/apis/storage.k8s.io/v1/csidrivers',
  capacities: '/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities',
  leases: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
  deployments: '/apis/apps/v1/namespaces/default/deployments',
  configMaps: '/api/v1/namespaces/default/configmaps',
  secrets: '/api/v1/namespaces/default/secrets',
  accounts: '/api/v1/namespaces/default/serviceaccounts',
  events: '/api/v1/namespaces/default/events',
  pods: '/api/v1/namespaces/default/pods',
  nodes: '/api/v1/nodes',
  namespaces: '/api/v1/namespaces',
  clusterRoles: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  clusterRoleBindings: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  roles: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
  roleBindings: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
};

/** Label of the objects of the cases. A server also has objects of its own. */
export const OURS = { 'example.com/case': '' };
export const ours = (path: string) => `${path}?labelSelector=example.com%2Fcase`;
export const metadata = { generateName: 'x-', labels: OURS };

export const volume = (spec: object = {}) => ({
  metadata,
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/x' },
    ...spec,
  },
});
export const localVolume = (spec: object = {}) =>
  volume({ hostPath: undefined, local: { path: '/dev/x' }, nodeAffinity: onNode('n1'), ...spec });
/** Returns a claim with a class that has no volume. */
export const claim = (spec: object = {}) => ({
  metadata,
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'nowhere',
    resources: { requests: { storage: '1Gi' } },
    ...spec,
  },
});
export const capacity = (more: object = {}) => ({
  metadata,
  storageClassName: 'nowhere',
  nodeTopology: { matchLabels: { 'kubernetes.io/hostname': 'n1' } },
  capacity: '10Gi',
  ...more,
});
export const deployment = (spec: object = {}) => ({
  metadata,
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'x' } },
    template: {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [{ name: 'a', image: 'x' }] },
    },
    ...spec,
  },
});
export const pod = (spec: object = {}) => ({
  metadata,
  spec: { nodeName: 'nowhere', containers: [{ name: 'a', image: 'x' }], ...spec },
});
export const event = (more: object = {}) => ({
  metadata,
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
  ...more,
});
export const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
export const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };
