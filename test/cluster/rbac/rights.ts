import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import { VOLUME_GROUP } from '../../../src/api/names.ts';
import type { Rule } from '../../../src/cli/install/rules.ts';
import type { Wanted } from '../../../src/cli/install/wanted.ts';
import type { Transport } from '../../../src/kube/transport.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { until } from '../../support/until.ts';

/** One verb on one resource, which a role gives. */
export interface Right {
  /** As `recordingTransport` notes it. */
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

/** All that roles among these give that are bound, too. */
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

/** Has the roles give these of all rights, and waits until that is what the API server goes by for whoever sends so. */
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
  await until('the roles are known', async () => {
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

/** The name of the right among these that a 403 tells of, as RBAC words it; the message, where it is of something else. */
export function rightIn(message: string, rights: readonly Right[]): string {
  // The admission plugin's own words do not say of which kind.
  if (message.includes("can't set finalizers on"))
    return `update volumes/finalizers.${VOLUME_GROUP}`;
  const told =
    /cannot (\S+) resource "([^"]+)" in API group "([^"]*)" (?:at the cluster scope|in the namespace "([^"]+)")/.exec(
      message,
    );
  if (told === null) return message;
  const [, verb, resource, group, namespace] = told;
  const name = `${verb} ${resource}.${group}`;
  // What a ClusterRole gives in all namespaces is refused in one.
  const isInAll = namespace === undefined || rights.some((right) => right.name === name);
  return isInAll ? name : `${name} in ${namespace}`;
}
