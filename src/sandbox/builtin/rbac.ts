import { isDeepStrictEqual } from 'node:util';
import type { Cause, Kind, StoredObject } from '../kind.ts';
import { invalidValue, requiredValue } from '../refusal.ts';
import { type Fields, goCase, oneOf, plain, required } from './plain.ts';

const GROUP = 'rbac.authorization.k8s.io';
const rbac = { ...plain, group: GROUP, names: 'path' as const };

/** Kinds that are stored and checked without effect: the holder of the token may do everything. */
export const RBAC_KINDS: Kind[] = [
  {
    ...rbac,
    plural: 'clusterroles',
    singular: 'clusterrole',
    kind: 'ClusterRole',
    fillDefaults,
    validate: (object) => ruleCauses(object),
  },
  {
    ...rbac,
    plural: 'roles',
    singular: 'role',
    kind: 'Role',
    namespaced: true,
    fillDefaults,
    validate: (object) => [...ruleCauses(object), ...noUrls(object)],
  },
  {
    ...rbac,
    plural: 'clusterrolebindings',
    singular: 'clusterrolebinding',
    kind: 'ClusterRoleBinding',
    fillDefaults: defaultGroups,
    validate: (object, old) => bindingCauses(object, old, ['ClusterRole']),
  },
  {
    ...rbac,
    plural: 'rolebindings',
    singular: 'rolebinding',
    kind: 'RoleBinding',
    namespaced: true,
    fillDefaults: defaultGroups,
    validate: (object, old) => bindingCauses(object, old, ['Role', 'ClusterRole']),
  },
];

interface PolicyRule {
  verbs?: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/** Sets absent `rules` to null, as the API server does. */
function fillDefaults(object: StoredObject): void {
  object.rules ??= null;
}

const rulesOf = (object: StoredObject) => (object.rules ?? []) as PolicyRule[];

function ruleCauses(object: StoredObject): Cause[] {
  return rulesOf(object).flatMap(
    ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }, i) => {
      const missing = (field: string, detail: string) => [
        requiredValue(`rules[${i}].${field}`, detail),
      ];
      const noVerbs = verbs?.length
        ? []
        : missing('verbs', 'verbs must contain at least one value');
      if (nonResourceURLs?.length) {
        const mixed = apiGroups?.length || resources?.length || resourceNames?.length;
        return [
          ...noVerbs,
          ...(mixed
            ? [
                invalidValue(
                  `rules[${i}].nonResourceURLs`,
                  JSON.stringify(nonResourceURLs),
                  'rules cannot apply to both regular resources and non-resource URLs',
                ),
              ]
            : []),
        ];
      }
      return [
        ...noVerbs,
        ...(apiGroups?.length
          ? []
          : missing('apiGroups', 'resource rules must supply at least one api group')),
        ...(resources?.length
          ? []
          : missing('resources', 'resource rules must supply at least one resource')),
      ];
    },
  );
}

function noUrls(object: StoredObject): Cause[] {
  return rulesOf(object).flatMap(({ nonResourceURLs }, i) =>
    nonResourceURLs?.length
      ? [
          invalidValue(
            `rules[${i}].nonResourceURLs`,
            JSON.stringify(nonResourceURLs),
            'namespaced rules cannot apply to non-resource URLs',
          ),
        ]
      : [],
  );
}

function defaultGroups(object: StoredObject): void {
  const { roleRef, subjects } = object as { roleRef?: Fields; subjects?: Fields[] };
  object.roleRef = { ...roleRef, apiGroup: roleRef?.apiGroup || GROUP };
  if (Array.isArray(subjects))
    object.subjects = subjects.map((one) =>
      one.kind === 'User' || one.kind === 'Group'
        ? { ...one, apiGroup: one.apiGroup || GROUP }
        : one,
    );
}

function bindingCauses(
  object: StoredObject,
  old: StoredObject | undefined,
  kinds: string[],
): Cause[] {
  const roleRef = (object.roleRef ?? {}) as Fields;
  const subjects = (object.subjects ?? []) as Fields[];
  return [
    ...oneOf(roleRef.apiGroup ?? '', 'roleRef.apiGroup', [GROUP]),
    ...oneOf(roleRef.kind ?? '', 'roleRef.kind', kinds),
    ...required(roleRef, 'roleRef', ['name']),
    ...subjects.flatMap((one, i) => [
      ...oneOf(one.kind ?? '', `subjects[${i}].kind`, ['ServiceAccount', 'User', 'Group']),
      ...required(
        one,
        `subjects[${i}]`,
        one.kind === 'ServiceAccount' ? ['name', 'namespace'] : ['name'],
      ),
    ]),
    ...(old === undefined || isDeepStrictEqual(roleRef, old.roleRef)
      ? []
      : [invalidValue('roleRef', JSON.stringify(goCase(roleRef)), 'cannot change roleRef')]),
  ];
}
