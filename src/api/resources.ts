import type { Resource } from './meta.ts';
import { STOWAGE_GROUP, STOWAGE_VERSION, VOLUME_GROUP, VOLUME_VERSION } from './names.ts';

/** Kinds that Stowage reads or writes. */

export const VOLUMES: Resource = {
  group: VOLUME_GROUP,
  version: VOLUME_VERSION,
  plural: 'volumes',
  kind: 'Volume',
  namespaced: false,
};

export const LEFTOVERS: Resource = {
  group: STOWAGE_GROUP,
  version: STOWAGE_VERSION,
  plural: 'leftovers',
  kind: 'Leftover',
  namespaced: false,
};

export const PERSISTENT_VOLUMES: Resource = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
};

export const PERSISTENT_VOLUME_CLAIMS: Resource = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
};

export const PODS: Resource = {
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
};

export const NODES: Resource = {
  group: '',
  version: 'v1',
  plural: 'nodes',
  kind: 'Node',
  namespaced: false,
};

export const EVENTS: Resource = {
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
};

export const STORAGE_CLASSES: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
};

export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};

export const CSI_DRIVERS: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'csidrivers',
  kind: 'CSIDriver',
  namespaced: false,
};

export const CSI_STORAGE_CAPACITIES: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'csistoragecapacities',
  kind: 'CSIStorageCapacity',
  namespaced: true,
};

export const VOLUME_SNAPSHOTS: Resource = {
  group: 'snapshot.storage.k8s.io',
  version: 'v1',
  plural: 'volumesnapshots',
  kind: 'VolumeSnapshot',
  namespaced: true,
};

export const VOLUME_SNAPSHOT_CONTENTS: Resource = {
  group: 'snapshot.storage.k8s.io',
  version: 'v1',
  plural: 'volumesnapshotcontents',
  kind: 'VolumeSnapshotContent',
  namespaced: false,
};

export const VOLUME_SNAPSHOT_CLASSES: Resource = {
  group: 'snapshot.storage.k8s.io',
  version: 'v1',
  plural: 'volumesnapshotclasses',
  kind: 'VolumeSnapshotClass',
  namespaced: false,
};

export const VOLUME_SNAPSHOT_LINKS: Resource = {
  group: 'snapshot.storage.k8s.io',
  version: 'v1alpha1',
  plural: 'volumesnapshotlinks',
  kind: 'VolumeSnapshotLink',
  namespaced: true,
};

/** Served as v1, v1beta1 or both, depending on the cluster. */
export const REFERENCE_GRANTS: Resource = {
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  plural: 'referencegrants',
  kind: 'ReferenceGrant',
  namespaced: true,
};

export const VOLUME_POPULATORS: Resource = {
  group: 'populator.storage.k8s.io',
  version: 'v1beta1',
  plural: 'volumepopulators',
  kind: 'VolumePopulator',
  namespaced: false,
};

export const SECRETS: Resource = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
};

export const POPULATOR_DEFINITIONS: Resource = {
  group: STOWAGE_GROUP,
  version: STOWAGE_VERSION,
  plural: 'populatordefinitions',
  kind: 'PopulatorDefinition',
  namespaced: false,
};

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };

export const CUSTOM_RESOURCE_DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

export const NAMESPACES: Resource = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};

export const SERVICE_ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
};

export const CLUSTER_ROLES: Resource = {
  ...RBAC,
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
};

export const CLUSTER_ROLE_BINDINGS: Resource = {
  ...RBAC,
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
};

export const ROLES: Resource = { ...RBAC, plural: 'roles', kind: 'Role', namespaced: true };

export const ROLE_BINDINGS: Resource = {
  ...RBAC,
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
};

export const NETWORK_POLICIES: Resource = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'networkpolicies',
  kind: 'NetworkPolicy',
  namespaced: true,
};

export const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
