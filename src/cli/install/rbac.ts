import type { KubeObject } from '../../api/meta.ts';
import { AGGREGATE_LABEL, COMPONENT } from '../../api/names.ts';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  ROLE_BINDINGS,
  ROLES,
  SERVICE_ACCOUNTS,
} from '../../api/resources.ts';
import { SECRETS_ROLE } from '../../controllers/volume/read-secret.ts';
import { labelsOf } from '../lib/objects/installed-labels.ts';
import {
  CAPACITY_RULES,
  CLUSTER_RULES,
  LEASE_RULES,
  NAMESPACE_RULES,
  POPULATION_RULES,
  type Rule,
  SECRETS_RULES,
} from './rules.ts';
import { type Wanted, wanted } from './wanted.ts';

const SOURCES_ROLE = `${COMPONENT}-populator-sources`;

/** Returns the account of the daemon, and its rights. */
export function rbacObjects(namespace: string): Wanted[] {
  const metadata = (name: string, inNamespace?: string): KubeObject['metadata'] => ({
    name,
    ...(inNamespace === undefined ? {} : { namespace: inNamespace }),
    labels: labelsOf('rbac'),
  });
  const subjects = [{ kind: 'ServiceAccount', name: COMPONENT, namespace }];
  const refTo = (kind: string, name: string) => ({ apiGroup: ROLES.group, kind, name });
  const role = (name: string, inNamespace: string, rules: Rule[]): Wanted[] => [
    wanted(ROLES, 'rbac', { metadata: metadata(name, inNamespace), rules }),
    wanted(ROLE_BINDINGS, 'rbac', {
      metadata: metadata(name, inNamespace),
      roleRef: refTo('Role', name),
      subjects,
    }),
  ];
  return [
    wanted(SERVICE_ACCOUNTS, 'rbac', { metadata: metadata(COMPONENT, namespace) }),
    wanted(CLUSTER_ROLES, 'rbac', {
      metadata: metadata(COMPONENT),
      rules: [...CLUSTER_RULES, ...NAMESPACE_RULES],
    }),
    wanted(CLUSTER_ROLE_BINDINGS, 'rbac', {
      metadata: metadata(COMPONENT),
      roleRef: refTo('ClusterRole', COMPONENT),
      subjects,
    }),
    ...role(`${COMPONENT}-leader-election`, namespace, LEASE_RULES),
    ...role(`${COMPONENT}-storage-capacity`, namespace, CAPACITY_RULES),
    ...role(`${COMPONENT}-population`, namespace, POPULATION_RULES),
    // Aggregates the ClusterRoles of `register populator`: only registered kinds may be read.
    wanted(CLUSTER_ROLES, 'rbac', {
      metadata: metadata(SOURCES_ROLE),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [AGGREGATE_LABEL]: 'true' } }] },
    }),
    wanted(CLUSTER_ROLE_BINDINGS, 'rbac', {
      metadata: metadata(SOURCES_ROLE),
      roleRef: refTo('ClusterRole', SOURCES_ROLE),
      subjects,
    }),
    wanted(CLUSTER_ROLES, 'rbac', { metadata: metadata(SECRETS_ROLE), rules: SECRETS_RULES }),
  ];
}
