import type { Resource } from '../../../api/meta.ts';

/** The kinds that `install` makes objects of, beside those that Stowage works with. */

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
