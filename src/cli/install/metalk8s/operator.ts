import { StowageError } from '../../../api/errors.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { DEPLOYMENTS, PODS } from '../../../api/resources.ts';
import { listAll } from '../../../kube/client.ts';
import { patchWithRetry } from '../../../kube/retry.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { Io } from '../../lib/io.ts';
import { waitUntilGone } from '../move.ts';

/** Where MetalK8s runs it, by what name (since 126.0, and before), of which image. */
const NAMESPACE = 'kube-system';
const NAMES = ['storage-operator-controller-manager', 'storage-operator'];
const IMAGE = /(^|\/)storage-operator(:[^/]*)?(@[^/]*)?$/;

/** On its Deployment: how many replicas it had before it was scaled to none. */
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

/** MetalK8s's storage operator, in whatever versions of it there are Deployments. */
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

/** It is wanted to run: a Deployment that says nothing of replicas has one. */
export const isWanted = ({ spec }: Operator): boolean => (spec?.replicas ?? 1) > 0;

/** What has an operator that a take-over stopped act again; undefined for any other. Pure. */
export function startOf(operator: Operator): string | undefined {
  const { name, namespace, annotations } = operator.metadata;
  const before = annotations?.[REPLICAS_ANNOTATION];
  if (before === undefined || !/^\d+$/.test(before) || isWanted(operator)) return undefined;
  return `kubectl -n ${namespace} scale deployment ${name} --replicas ${before}`;
}

/** Two would act on the same Volumes. Throws a StowageError `conflict` where MetalK8s's operator is to run, or has not ended. */
export async function refuseBesideOperator(client: KubeClient, signal: AbortSignal): Promise<void> {
  const what = await atWork(client, signal);
  if (what === undefined) return;
  throw new StowageError(
    'conflict',
    `MetalK8s's storage operator is at work (${what}), and two would act on the same Volumes`,
    {
      hint: 'Take its Volumes over: stowage install --take-over-metalk8s (with --dry-run=client it only says what it would do). Or install the rest: stowage install --components crds,rbac',
    },
  );
}

/** The same for a daemon that is about to start. Where that can't be seen now it is not known, and what is not told of is not there. */
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

/** Scales them to none, and waits until no pod of them is left. Throws a StowageError `timeout`. */
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

/** Throws a StowageError `conflict` where an operator runs, is to run, or runs without a Deployment. */
export async function checkStopped(client: KubeClient, signal: AbortSignal): Promise<void> {
  const what = await atWork(client, signal);
  if (what === undefined) return;
  throw new StowageError('conflict', `MetalK8s's storage operator is still at work: ${what}`, {
    hint: 'Find out who started it, stop it, and take over again. Volumes that were adopted so far stay adopted.',
  });
}

/** The operator that is to run, or its pod, which may run on for a while, or on a node that nobody reaches. */
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
