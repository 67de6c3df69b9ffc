import type { KubeNode, PersistentVolumeClaim, Pod, Toleration } from '../../api/core.ts';
import { SELECTED_NODE_ANNOTATION } from '../../api/names.ts';
import { claimNamesOf } from '../../api/pod-claims.ts';
import { indexBy } from '../../kube/index-by.ts';
import type { Informer } from '../../kube/informer.ts';
import { tolerationsLike, untoleratedTaint } from '../../model/tolerations.ts';

/**
 * Returns the tolerations of a claim's populator pod: those of one pod that waits for the claim,
 * preferably one that tolerates the selected node. The tolerations of two pods are never
 * combined, since neither pod could run on a node that needs both. Pure.
 * @param node node that the scheduler selected for the claim, if any
 */
export function tolerationsOf(pods: readonly Pod[], node: KubeNode | undefined): Toleration[] {
  const waiting = pods
    .filter(isWaiting)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const fitting = waiting.find(
    ({ spec }) => node !== undefined && untoleratedTaint(node, spec.tolerations) === undefined,
  );
  const pod = fitting ?? waiting[0];
  return pod === undefined ? [] : tolerationsLike(pod);
}

/** Reports whether the scheduler still has to place a pod. */
const isWaiting = ({ metadata, spec, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  !spec.nodeName &&
  status?.phase !== 'Succeeded' &&
  status?.phase !== 'Failed';

/**
 * Creates a function that returns the tolerations of a claim's populator pod. Call it before other
 * change handlers are registered and before the informers start.
 */
export function createConsumerTolerations({
  pods,
  nodes,
}: {
  pods: Informer<Pod>;
  nodes: Pick<Informer<KubeNode>, 'get'>;
}): (claim: PersistentVolumeClaim) => Toleration[] {
  const podsOf = indexBy(pods, (pod) =>
    isWaiting(pod) ? claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`) : [],
  );
  return ({ metadata: { namespace, name, annotations } }) =>
    tolerationsOf(
      podsOf(`${namespace}/${name}`),
      nodes.get(annotations?.[SELECTED_NODE_ANNOTATION] ?? ''),
    );
}
