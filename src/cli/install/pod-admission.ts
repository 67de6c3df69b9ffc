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

interface Template extends KubeObject {
  spec: { template: { metadata: { labels: Record<string, string> }; spec: object } };
}

/**
 * Lets the server check a pod of the daemon, without storing it: Pod Security, quotas, limit ranges
 * and policies refuse pods of a Deployment, and not the Deployment. Skips the check if the user may
 * not create pods. Call it once the Deployment and its ServiceAccount exist. Throws a StowageError
 * `conflict` with the refusal, and errors of the API server.
 * @param isNew whether the Deployment has no pods yet, which a quota would count
 */
export async function checkPodAdmission(
  client: Pick<KubeClient, 'create'>,
  { resource, object }: Wanted,
  isNew: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '' } = object.metadata;
  const right = { group: '', resource: PODS.plural, verb: 'create', namespace };
  if (!(await isAllowed(client, right, signal))) return;
  const { metadata, spec } = (object as Template).spec.template;
  const pod = {
    apiVersion: 'v1',
    kind: PODS.kind,
    // No Deployment creates a pod of this name.
    metadata: { ...metadata, name: `${COMPONENT}-admission`, namespace },
    spec,
  };
  try {
    await client.create<KubeObject>(PODS, pod, { namespace, dryRun: true, signal });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // A webhook that cannot check dry runs answers with 400, and proves nothing.
    if (error.statusCode === 400) return;
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
