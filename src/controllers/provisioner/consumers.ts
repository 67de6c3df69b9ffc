import type { KubeNode, PersistentVolumeClaim, Pod } from '../../api/core.ts';
import { SELECTED_NODE_ANNOTATION } from '../../api/names.ts';
import { claimNamesOf } from '../../api/pod-claims.ts';
import { explain } from '../../api/reasons.ts';
import { indexBy } from '../../kube/index-by.ts';
import type { Informer } from '../../kube/informer.ts';
import { untoleratedTaint } from '../../model/tolerations.ts';
import type { Explained } from '../lib/capacity/refusal.ts';

/** Pods for which the scheduler chooses the node of a claim. */
export interface Consumers {
  /** Returns the pods that use a claim and have not ended. */
  of(claim: PersistentVolumeClaim): readonly Pod[];
  /** Returns the unbound claims, as `namespace/name`, for which a pod counts. */
  claimsOf(pod: Pod): string[];
}

/**
 * Reports whether a claim is a populator's prime claim, whose selected
 * node no component writes again.
 */
export const isPrime = ({ metadata }: PersistentVolumeClaim): boolean => PRIME.test(metadata.name);

/**
 * Name of a populator's prime claim (lib-volume-populator, CDI, Stowage), with the
 * UID of the claim that it is for.
 */
const PRIME = /^prime-(.+)$/;

const keyOf = ({ metadata: { namespace, name } }: PersistentVolumeClaim): string =>
  `${namespace}/${name}`;

const selectedNode = ({ metadata }: PersistentVolumeClaim): string | undefined =>
  metadata.annotations?.[SELECTED_NODE_ANNOTATION];

/**
 * Creates the indexes. Call it before other change handlers are registered
 * and before the informers start.
 */
export function createConsumers({
  pods,
  claims,
}: {
  pods: Informer<Pod>;
  claims: Informer<PersistentVolumeClaim>;
}): Consumers {
  const podsOf = indexBy(pods, (pod) =>
    claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`),
  );
  const claimsOfUid = indexBy(claims, ({ metadata }) => metadata.uid);
  const primesOf = indexBy(claims, ({ metadata }) => PRIME.exec(metadata.name)?.[1]);

  return {
    /**
     * Returns the pods that count for a claim. A populator copies the selected node to its prime
     * claim before any pod uses that claim. Then only the pods of the target claim count: the
     * populator's own pod proves nothing about the node. If the target has no selected node, as CDI
     * fills it at once, the prime claim's pods count: the scheduler chose the node for them.
     */
    of(claim) {
      const [target] = claimsOfUid(PRIME.exec(claim.metadata.name)?.[1] ?? '');
      if (target === undefined || !isToBeFilled(target) || selectedNode(target) === undefined) {
        return podsOf(keyOf(claim)).filter(isActive);
      }
      return selectedNode(target) === selectedNode(claim)
        ? podsOf(keyOf(target)).filter(isActive)
        : [];
    },
    claimsOf(pod) {
      return claimNamesOf(pod).flatMap((name) => {
        const key = `${pod.metadata.namespace}/${name}`;
        const claim = claims.get(name, pod.metadata.namespace);
        if (claim === undefined || claim.status?.phase === 'Bound') return [];
        return [key, ...primesOf(claim.metadata.uid ?? '').map(keyOf)];
      });
    },
  };
}

/**
 * Reports whether a claim awaits a populator. Otherwise, a claim named
 * after it is not its prime claim.
 */
const isToBeFilled = ({ spec }: PersistentVolumeClaim): boolean =>
  !spec.volumeName && (spec.dataSourceRef ?? spec.dataSource) != null;

const isActive = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.phase !== 'Succeeded' &&
  status?.phase !== 'Failed';

/**
 * Returns why the scheduler places none of the pods on a node; undefined if it may place one there.
 * Writers of the selected-node annotation could name any node, such as a control plane.
 */
export function untolerated(object: KubeNode, pods: readonly Pod[]): Explained | undefined {
  const node = object.metadata.name;
  const found = pods.map((pod) =>
    pod.spec.nodeName === undefined || pod.spec.nodeName === ''
      ? untoleratedTaint(object, pod.spec.tolerations)
      : pod.spec.nodeName === node
        ? undefined
        : 'elsewhere',
  );
  if (found.includes(undefined)) return undefined;
  const taint = found.find((each) => typeof each === 'object');
  return typeof taint === 'object'
    ? explain('TaintNotTolerated', { taint: `${taint.key}:${taint.effect}`, node })
    : explain('PodsElsewhere', { node });
}
