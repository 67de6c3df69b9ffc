import { describe, expect, test } from '@jest/globals';
import { AGGREGATE_LABEL } from '../../../src/api/names.ts';
import { deploymentObject } from '../../../src/cli/install/deployment.ts';
import { NAMESPACE } from '../../../src/cli/install/objects.ts';
import { rbacObjects } from '../../../src/cli/install/rbac.ts';
import type { Rule } from '../../../src/cli/install/rules.ts';

/**
 * Requests that the daemon's account must be refused according to docs/hardening.md, even with its
 * token.
 */

const OBJECTS = rbacObjects(NAMESPACE).map(({ object }) => object as RoleObject);

interface RoleObject {
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  rules?: Rule[];
  aggregationRule?: object;
  roleRef?: { kind: string; name: string };
}

const BOUND = OBJECTS.flatMap(({ roleRef }) =>
  roleRef === undefined ? [] : [`${roleRef.kind}/${roleRef.name}`],
);

/** Returns the rules of all bound ClusterRoles, and of the bound Roles in the namespace. */
const rulesIn = (namespace?: string): Rule[] =>
  OBJECTS.filter(
    ({ kind, metadata }) =>
      BOUND.includes(`${kind}/${metadata.name}`) &&
      (kind === 'ClusterRole' ||
        (kind === 'Role' && namespace !== undefined && metadata.namespace === namespace)),
  ).flatMap(({ rules = [] }) => rules);

const may = (verb: string, resource: string, namespace?: string): boolean =>
  rulesIn(namespace).some(
    ({ resources, verbs }) =>
      (resources.includes(resource) || resources.includes('*')) &&
      (verbs.includes(verb) || verbs.includes('*')),
  );

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];

describe.each([
  ['in the daemon’s own namespace', NAMESPACE],
  ['elsewhere', 'other'],
])('the daemon’s account %s', (_, namespace) => {
  test.each([
    ...[
      'secrets',
      'configmaps',
      'serviceaccounts',
      'serviceaccounts/token',
      'namespaces',
      'resourcequotas',
    ],
    ...[
      'pods/exec',
      'pods/attach',
      'pods/portforward',
      'pods/log',
      'pods/ephemeralcontainers',
      'pods/eviction',
    ],
    ...[
      'nodes/proxy',
      'nodes/status',
      'services',
      'services/proxy',
      'endpoints',
      'users',
      'groups',
    ],
    ...[
      'roles',
      'rolebindings',
      'clusterroles',
      'clusterrolebindings',
      'customresourcedefinitions',
    ],
    ...[
      'mutatingwebhookconfigurations',
      'validatingwebhookconfigurations',
      'certificatesigningrequests',
    ],
  ])('has no rights to %s', (resource) => {
    const allowed = [...VERBS, 'impersonate', 'bind', 'escalate', 'approve', 'sign'];
    expect(allowed.filter((verb) => may(verb, resource, namespace))).toEqual([]);
  });

  test.each([
    ...[
      'nodes',
      'storageclasses',
      'referencegrants',
      'deployments',
      'volumepopulators',
      'populatordefinitions',
    ],
    ...['volumesnapshotclasses', 'volumesnapshotlinks', 'daemonsets', 'statefulsets', 'jobs'],
  ])('may not write %s', (resource) => {
    expect(WRITES.filter((verb) => may(verb, resource, namespace))).toEqual([]);
  });
});

describe('the daemon’s account in other namespaces', () => {
  test.each(['pods', 'persistentvolumeclaims', 'leases', 'csistoragecapacities'])(
    'may not create or delete %s',
    (resource) => {
      expect(
        ['create', 'delete', 'deletecollection'].filter((verb) => may(verb, resource, 'other')),
      ).toEqual([]);
    },
  );
});

test('only the role stowage-populator-secrets is unbound, and it is not aggregated', () => {
  const unbound = OBJECTS.filter(
    ({ kind, metadata }) =>
      ['Role', 'ClusterRole'].includes(kind) && !BOUND.includes(`${kind}/${metadata.name}`),
  );
  expect(unbound.map(({ metadata, rules }) => [metadata.name, rules])).toEqual([
    ['stowage-populator-secrets', [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]],
  ]);
  expect(unbound[0]?.metadata.labels).not.toHaveProperty([AGGREGATE_LABEL]);
});

test('no rule has a wildcard', () => {
  const wild = OBJECTS.flatMap(({ rules = [] }) => rules).filter(
    ({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs].includes('*'),
  );
  expect(wild).toEqual([]);
});

const UNPRIVILEGED = {
  allowPrivilegeEscalation: false,
  privileged: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

test('the pod has no privileges', () => {
  const { object } = deploymentObject(NAMESPACE, 'stowage:test');
  const { spec } = (object as unknown as { spec: { template: { spec: PodSpec } } }).spec.template;
  // Clusters that assign user IDs refuse a user, a group or an fsGroup.
  expect(spec.securityContext).toEqual({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  expect(spec.initContainers).toHaveLength(1);
  expect(
    [...spec.initContainers, ...spec.containers].map(({ securityContext }) => securityContext),
  ).toEqual([UNPRIVILEGED, UNPRIVILEGED]);
  expect(spec).not.toHaveProperty('hostNetwork');
  expect(spec).not.toHaveProperty('hostPID');
  expect(spec.volumes.map((volume) => Object.keys(volume).filter((key) => key !== 'name'))).toEqual(
    [['secret'], ['emptyDir'], ['emptyDir']],
  );
});

interface PodSpec {
  securityContext: object;
  initContainers: { securityContext: object }[];
  containers: { securityContext: object }[];
  volumes: object[];
}
