import { StowageError } from '../../api/errors.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import { CLUSTER_ROLE_BINDINGS, DEPLOYMENTS, PODS, SERVICE_ACCOUNTS } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { waitFor } from '../../kube/wait.ts';
import type { Component } from '../lib/components.ts';
import type { Io } from '../lib/io.ts';
import { NAME_LABEL } from '../lib/objects/installed-labels.ts';
import { printable } from '../lib/output/printable.ts';
import { foundIn, readNamed } from '../lib/read-result.ts';
import type { Installed } from './installed-objects.ts';
import { titleOf } from './wanted.ts';

/** Timeout in ms, longer than pods are given to end (terminationGracePeriodSeconds). */
const GONE_WITHIN = 120_000;

/**
 * Throws a StowageError `conflict` if a daemon is in another namespace (`deployments`) and only it
 * or its account would move. A daemon needs its account beside it. Pure.
 */
export function refuseHalfMove(
  deployments: readonly Installed[],
  components: readonly Component[],
  namespace: string,
): void {
  if (components.includes('rbac') === components.includes('deployment')) return;
  const away = deployments.find(({ object }) => object.metadata.namespace !== namespace)?.object;
  if (away === undefined) return;
  throw new StowageError(
    'conflict',
    `${titleOf(DEPLOYMENTS, away)} already exists, and would lose its ServiceAccount`,
    {
      hint: `Keep it: stowage install -n ${away.metadata.namespace} --components ${components.join(',')}. Or move it: stowage install -n ${namespace} --components rbac,deployment`,
    },
  );
}

interface ClusterRoleBinding extends KubeObject {
  subjects?: { kind: string; name: string; namespace?: string }[];
}

/**
 * Returns the namespaces whose ServiceAccount Stowage's ClusterRoleBinding names. Daemons are
 * nowhere else, whatever labels objects have there. Empty if the user may not read the binding.
 * Throws a StowageError.
 */
export async function boundNamespaces(
  client: Pick<KubeClient, 'get'>,
  signal: AbortSignal,
): Promise<Set<string>> {
  const read = readNamed<ClusterRoleBinding>(client, CLUSTER_ROLE_BINDINGS, COMPONENT, { signal });
  const { subjects = [] } = foundIn(await read) ?? {};
  return new Set(
    subjects
      .filter(({ kind, name }) => kind === SERVICE_ACCOUNTS.kind && name === COMPONENT)
      .map(({ namespace = '' }) => namespace),
  );
}

/**
 * Returns the Deployments of daemons among installed objects: those in `namespace` or with a bound
 * account. Settings and removals depend on them, and anyone can set Stowage's label. Pure.
 */
export const daemonsAmong = (
  installed: readonly Installed[],
  bound: ReadonlySet<string>,
  namespace: string,
): Installed[] =>
  installed.filter(
    ({ resource, object: { metadata } }) =>
      resource === DEPLOYMENTS &&
      metadata.name === COMPONENT &&
      (metadata.namespace === namespace || bound.has(metadata.namespace ?? '')),
  );

interface Pod extends KubeObject {
  status?: { phase?: string };
}
interface Deployment extends KubeObject {
  spec?: { selector?: { matchLabels?: Record<string, string> } };
}

/** Namespace and labels of a daemon's pods. */
export interface DaemonPods {
  namespace: string;
  labels: Record<string, string>;
}

export const placeOf = ({ metadata, spec }: Deployment): DaemonPods => ({
  namespace: metadata.namespace ?? '',
  labels: spec?.selector?.matchLabels ?? {},
});

/** Returns where an interrupted move or deletion may have left pods: accounts go last. Pure. */
export const accountPlaces = (rbac: readonly Installed[], namespace: string): DaemonPods[] =>
  rbac
    .filter(
      ({ resource, object }) =>
        resource === SERVICE_ACCOUNTS && object.metadata.namespace !== namespace,
    )
    .map(({ object }) => ({
      namespace: object.metadata.namespace ?? '',
      labels: { [NAME_LABEL]: COMPONENT },
    }));

/**
 * Waits until a daemon's pods, and its Deployment if it is being deleted, are gone. Until then a
 * pod may lead, by a Lease that a daemon in another namespace does not read. Throws a StowageError
 * `timeout`.
 */
export async function waitUntilGone(
  client: Pick<KubeClient, 'list' | 'watch'>,
  place: DaemonPods,
  deployment: KubeObject | undefined,
  io: Io,
): Promise<void> {
  const { clock, signal } = io;
  const { namespace } = place;
  const end = clock.now() + GONE_WITHIN;
  const gone = (resource: Resource, { metadata }: KubeObject) =>
    waitFor<Pod>(client, resource, metadata.name, {
      namespace,
      until: (found) => found?.metadata.uid !== metadata.uid || hasEnded(found as Pod),
      timeoutMs: Math.max(end - clock.now(), 1),
      clock,
      signal,
    });
  const before = await runningPods(client, place, signal);
  if (before.length > 0) {
    io.stderr.write(
      `${printable(`waiting for the pods of the daemon in namespace ${namespace} to end: ${namesOf(before, ', ')}`)}\n`,
    );
  }
  try {
    if (deployment !== undefined) await gone(DEPLOYMENTS, deployment);
    for (;;) {
      const [pod] = await runningPods(client, place, signal);
      if (pod === undefined) return;
      await gone(PODS, pod);
    }
  } catch (error) {
    if (!(error instanceof StowageError) || error.code !== 'timeout') throw error;
    const left = await runningPods(client, place, signal);
    const found = left.length === 0 ? 'a Deployment' : `pods: ${namesOf(left, ', ')}`;
    const after = `after ${GONE_WITHIN / 1000} s`;
    throw new StowageError(
      'timeout',
      `the daemon in namespace ${namespace} still has ${found} ${after}`,
      {
        hint:
          left.length === 0
            ? `Find out what holds it up, then install again: kubectl -n ${namespace} get deployments -o yaml`
            : `If their node is permanently off, delete them: kubectl -n ${namespace} delete pod --force ${namesOf(left, ' ')}. Then install again: until they are gone, two daemons could act at once.`,
        cause: error,
      },
    );
  }
}

async function runningPods(
  client: Pick<KubeClient, 'list'>,
  { namespace, labels }: DaemonPods,
  signal: AbortSignal,
): Promise<Pod[]> {
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const { items } = await listAll<Pod>(client, PODS, { namespace, labelSelector, signal });
  return items.filter((pod) => !hasEnded(pod));
}

/** Reports whether no container of a pod runs or will run. */
const hasEnded = ({ status }: Pod): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

const namesOf = (pods: readonly Pod[], between: string): string =>
  pods.map(({ metadata }) => metadata.name).join(between);
