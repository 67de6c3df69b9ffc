import { StowageError } from '../../../api/errors.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { DEPLOYMENTS, PODS } from '../../../api/resources.ts';
import { listAll } from '../../../kube/client.ts';
import { patchWithRetry } from '../../../kube/retry.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Io } from '../../lib/io.ts';
import { waitUntilGone } from '../move.ts';

/** Namespace, names (since 126.0, and before) and image of MetalK8s's operator. */
const NAMESPACE = 'kube-system';
const NAMES = ['storage-operator-controller-manager', 'storage-operator'];
const IMAGE = /(^|\/)storage-operator(:[^/]*)?(@[^/]*)?$/;

/** Annotation of the Deployment: number of replicas before it was scaled to zero. */
export const REPLICAS_ANNOTATION = 'stowage.dev/replicas-before';

interface PodSpec {
  containers?: { image?: string }[];
}
export interface Operator extends KubeObject {
  spec?: {
    replicas?: number;
    selector?: { matchLabels?: Record<string, string> };
    template?: { spec?: PodSpec };
  };
}
interface Pod extends KubeObject {
  spec?: PodSpec;
  status?: { phase?: string };
}

/** Returns the Deployments of MetalK8s's storage operator, in all its versions. */
export async function findOperators(
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<Operator[]> {
  const { items } = await listAll<Operator>(client, DEPLOYMENTS, { signal });
  return items.filter(
    ({ metadata, spec }) =>
      NAMES.includes(metadata.name) &&
      (metadata.namespace === NAMESPACE || hasImage(spec?.template?.spec)),
  );
}

export const titleOfOperator = ({ metadata }: Operator): string =>
  `deployment.apps/${metadata.name} in namespace ${metadata.namespace}`;

/** Reports whether the operator should run. A Deployment that sets no replicas has one. */
export const isWanted = ({ spec }: Operator): boolean => (spec?.replicas ?? 1) > 0;

/** Returns the command that restarts an operator stopped by a take-over, else undefined. Pure. */
export function startOf(operator: Operator): string | undefined {
  const { name, namespace, annotations } = operator.metadata;
  const before = annotations?.[REPLICAS_ANNOTATION];
  if (before === undefined || !/^\d+$/.test(before) || isWanted(operator)) return undefined;
  return `kubectl -n ${namespace} scale deployment ${name} --replicas ${before}`;
}

/**
 * Throws a StowageError `conflict` if MetalK8s's operator should run, or has not ended: both would
 * act on the same Volumes.
 */
export async function refuseBesideOperator(client: KubeClient, signal: AbortSignal): Promise<void> {
  const what = await atWork(client, signal);
  if (what === undefined) return;
  throw new StowageError(
    'conflict',
    `MetalK8s's storage operator is running (${what}): two controllers would manage the same Volumes`,
    {
      hint: 'Take over its Volumes: stowage install --take-over-metalk8s (add --dry-run=client for a preview). Or install without the daemon: stowage install --components crds,rbac',
    },
  );
}

/**
 * Checks the same for a daemon that is about to start. Ignores other errors: an operator that
 * cannot be observed counts as absent.
 */
export async function refuseToActBesideOperator(
  client: KubeClient,
  signal: AbortSignal,
): Promise<void> {
  try {
    await refuseBesideOperator(client, signal);
  } catch (error) {
    if (error instanceof StowageError && error.code === 'conflict') throw error;
  }
}

/** Scales operators to zero, and waits for their pods to end. Throws a StowageError `timeout`. */
export async function stopOperators(
  client: KubeClient,
  operators: readonly Operator[],
  io: Io,
): Promise<void> {
  for (const operator of operators) {
    const { name, namespace = '' } = operator.metadata;
    await patchWithRetry<Operator>(
      client,
      DEPLOYMENTS,
      name,
      (current) =>
        isWanted(current)
          ? {
              metadata: {
                annotations: { [REPLICAS_ANNOTATION]: String(current.spec?.replicas ?? 1) },
              },
              spec: { replicas: 0 },
            }
          : undefined,
      { namespace, signal: io.signal },
    );
    const labels = operator.spec?.selector?.matchLabels ?? {};
    await waitUntilGone(client, { namespace, labels }, undefined, io);
  }
}

/** Throws a StowageError `conflict` if an operator should run, or still has a running pod. */
export async function checkStopped(client: KubeClient, signal: AbortSignal): Promise<void> {
  const what = await atWork(client, signal);
  if (what === undefined) return;
  throw new StowageError('conflict', `MetalK8s's storage operator is still running: ${what}`, {
    hint: 'Find out what started it, stop it, then take over again. Volumes adopted so far stay adopted.',
  });
}

/** Returns the operator that should run, or its pod, possibly on an unreachable node. */
async function atWork(
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const wanted = (await findOperators(client, signal)).find(isWanted);
  if (wanted !== undefined) return titleOfOperator(wanted);
  const { items } = await listAll<Pod>(client, PODS, { namespace: NAMESPACE, signal });
  const pod = items.find(
    ({ spec, status }) =>
      hasImage(spec) && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
  );
  return pod && `pod/${pod.metadata.name} in namespace ${NAMESPACE}`;
}

const hasImage = (spec: PodSpec | undefined): boolean =>
  spec?.containers?.some(({ image = '' }) => IMAGE.test(image)) ?? false;
