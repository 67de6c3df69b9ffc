import { StowageError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import { PODS } from '../../api/resources.ts';
import { isAllowed } from '../../kube/access-review.ts';
import { ApiError } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { titleOf, type Wanted } from './wanted.ts';

/** Words of the plugin ResourceQuota in Kubernetes 1.0 to 1.36, if only the amount is too much. */
const QUOTA_USED_UP = 'exceeded quota: ';

const POD = `${COMPONENT}-admission`;

/** Owner as of the real pods: some policies refuse pods without one. The pod is never stored. */
const OWNER = {
  ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: POD, controller: true },
  uid: '00000000-0000-4000-8000-000000000000',
};

interface Template extends KubeObject {
  spec: { template: { metadata: { labels: Record<string, string> }; spec: object } };
}

/**
 * Lets the server check a pod of the daemon, without storing it: Pod Security, quotas, limit ranges
 * and policies refuse pods of a Deployment, and not the Deployment. Returns the error; undefined if
 * the pod is admitted, if nothing is proved, or if the user may not create pods. Call it once the
 * ServiceAccount exists, and before the Deployment, whose pods a quota counts. Throws errors other
 * than those of the API server.
 */
export async function podRefusal(
  client: Pick<KubeClient, 'create'>,
  { object }: Wanted,
  signal: AbortSignal,
): Promise<ApiError | undefined> {
  const { namespace = '' } = object.metadata;
  const right = { group: '', resource: PODS.plural, verb: 'create', namespace };
  const { metadata, spec } = (object as Template).spec.template;
  const pod = {
    apiVersion: 'v1',
    kind: PODS.kind,
    // No Deployment creates a pod of this name.
    metadata: { ...metadata, name: POD, namespace, ownerReferences: [OWNER] },
    spec,
  };
  try {
    if (await isAllowed(client, right, signal))
      await client.create<KubeObject>(PODS, pod, { namespace, dryRun: true, signal });
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // A webhook that cannot check dry runs answers with 400, and proves nothing.
    return error.statusCode === 400 ? undefined : error;
  }
}

/**
 * Throws a StowageError `conflict` if the cluster refuses pods of the installed Deployment, and
 * other errors of the check.
 * @param isNew whether the Deployment had no pods at the check, which a quota counts
 */
export function throwRefusal(
  error: ApiError | undefined,
  { resource, object }: Wanted,
  isNew: boolean,
): void {
  if (error === undefined) return;
  if (error.statusCode !== 403 && error.statusCode !== 422) throw error;
  if (!isNew && error.message.includes(QUOTA_USED_UP)) return;
  throw new StowageError(
    'conflict',
    `${titleOf(resource, object)} is installed, but the cluster refuses its pods: ${error.message}`,
    {
      hint: 'Run install again with what is demanded: --requests and --limits for quotas and limit ranges, --labels for policies. Or change the policy.',
      cause: error,
    },
  );
}

/** Words of ValidatingAdmissionPolicies and of webhooks in refusals, in Kubernetes 1.9 to 1.36. */
const POLICY_DENIED = /denied (?:the )?request/;

/**
 * Returns the result of a request, and adds the flag for labels to the refusal of a policy, whose
 * own message names what it demands. Throws errors of the request.
 */
export async function withLabelsHint<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ApiError) || !POLICY_DENIED.test(error.message)) throw error;
    throw new StowageError(error.code, error.message, {
      hint: 'If the policy demands labels, run install again with --labels.',
      cause: error,
    });
  }
}
