import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { VOLUME_GROUP } from '../../../src/api/names.ts';
import type { Rule } from '../../../src/cli/install/rules.ts';
import type { Wanted } from '../../../src/cli/install/wanted.ts';
import type { Transport } from '../../../src/kube/transport.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { until } from '../../support/until.ts';

/** A verb on a resource that a role grants. */
export interface Right {
  /** Name as `recordingTransport` records it. */
  name: string;
  role: Role;
  verb: string;
  group: string;
  resource: string;
}

interface Role {
  resource: Resource;
  name: string;
  namespace: string | undefined;
}

/** Returns the rights of those roles among these objects that are bound. */
export function rightsOf(objects: readonly Wanted[]): Right[] {
  const bound = objects.map(
    ({ object }) => (object as { roleRef?: { name: string } }).roleRef?.name,
  );
  return objects.flatMap(({ resource: kind, object }) => {
    const { name, namespace } = object.metadata;
    if (!bound.includes(name)) return [];
    const role = { resource: kind, name, namespace };
    return ((object as KubeObject & { rules?: Rule[] }).rules ?? []).flatMap(
      ({ apiGroups: [group = ''], resources, verbs }) =>
        resources.flatMap((resource) =>
          verbs.map((verb) => ({
            name: `${verb} ${resource}.${group}${namespace === undefined ? '' : ` in ${namespace}`}`,
            role,
            verb,
            group,
            resource,
          })),
        ),
    );
  });
}

/**
 * Limits the roles to these of all rights, and waits until the API server applies them to
 * `account`.
 */
export async function setRights(
  client: KubeClient,
  account: Transport,
  all: readonly Right[],
  given: readonly Right[],
): Promise<void> {
  for (const role of new Set(all.map((right) => right.role))) {
    const rules = given
      .filter((right) => right.role === role)
      .map(({ group, resource, verb }) => ({
        apiGroups: [group],
        resources: [resource],
        verbs: [verb],
      }));
    await client.patch(role.resource, role.name, { rules }, { namespace: role.namespace });
  }
  await until('the API server applies the roles', async () => {
    const allowed = await Promise.all(all.map((right) => isAllowed(account, right)));
    return all.every((right, index) => allowed[index] === given.includes(right)) || undefined;
  });
}

async function isAllowed(
  account: Transport,
  { role, verb, group, resource: path }: Right,
): Promise<boolean> {
  const [resource, subresource] = path.split('/');
  const { status } = (await account.send({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: {
        resourceAttributes: { verb, group, resource, subresource, namespace: role.namespace },
      },
    },
  })) as { status: { allowed: boolean } };
  return status.allowed;
}

/**
 * Returns the name of the right among these that a 403 names, in RBAC's wording, or the message if
 * it is about something else.
 */
export function rightIn(message: string, rights: readonly Right[]): string {
  // The admission plugin's message does not name the kind.
  if (message.includes("can't set finalizers on"))
    return `update volumes/finalizers.${VOLUME_GROUP}`;
  const told =
    /cannot (\S+) resource "([^"]+)" in API group "([^"]*)" (?:at the cluster scope|in the namespace "([^"]+)")/.exec(
      message,
    );
  if (told === null) return message;
  const [, verb, resource, group, namespace] = told;
  const name = `${verb} ${resource}.${group}`;
  // A right that a ClusterRole grants in all namespaces is refused in one of them.
  const isInAll = namespace === undefined || rights.some((right) => right.name === name);
  return isInAll ? name : `${name} in ${namespace}`;
}
