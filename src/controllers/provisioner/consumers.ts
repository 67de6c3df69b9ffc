import type { KubeNode, PersistentVolumeClaim, Pod } from '../../api/core.ts';
import { SELECTED_NODE_ANNOTATION } from '../../api/names.ts';
import { claimNamesOf } from '../../api/pod-claims.ts';
import { explain } from '../../api/reasons.ts';
import { indexBy } from '../../kube/index-by.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Explained } from '../lib/capacity/refusal.ts';

/** Pods for which the scheduler chooses the node of a claim. */
export interface Consumers {
  /** Returns the pods that use a claim and have not ended. */
  of(claim: PersistentVolumeClaim): readonly Pod[];
  /** Returns the unbound claims, as `namespace/name`, for which a pod counts. */
  claimsOf(pod: Pod): string[];
}

/** Whether a claim is what a populator fills first: nobody writes its selected node again. */
export const isPrime = ({ metadata }: PersistentVolumeClaim): boolean => PRIME.test(metadata.name);

/** Prime claim of a populator, by the UID of the claim that it is for (lib-volume-populator, CDI, and Stowage's own). */
const PRIME = /^prime-(.+)$/;

const keyOf = ({ metadata: { namespace, name } }: PersistentVolumeClaim): string =>
  `${namespace}/${name}`;

const selectedNode = ({ metadata }: PersistentVolumeClaim): string | undefined =>
  metadata.annotations?.[SELECTED_NODE_ANNOTATION];

/** Creates the indexes. Call it before other handlers of changes are registered, and before the informers are started. */
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
     * A populator copies the selected node to a prime claim before any pod uses that. The pods of the claim that is filled count
     * then, and only those: the populator's own pod proves nothing about the node. Where that claim has none, as CDI fills it at
     * once, the scheduler chose the node for the populator's pod, as it does for any claim with one.
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

/** Else nobody fills it, and whoever names a claim after it has no part in it. */
const isToBeFilled = ({ spec }: PersistentVolumeClaim): boolean =>
  !spec.volumeName && (spec.dataSourceRef ?? spec.dataSource) != null;

const isActive = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.phase !== 'Succeeded' &&
  status?.phase !== 'Failed';

type Taint = NonNullable<NonNullable<KubeNode['spec']>['taints']>[number];
type Toleration = NonNullable<Pod['spec']['tolerations']>[number];

/** Taints for a node that is not Ready, which a claim does not get anyway. */
const NOT_READY = new Set(['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']);

/**
 * Reports the taint by which the scheduler puts none of the pods on a node; undefined where it may put one there. Whoever writes the
 * annotation with the selected node could name any, such as a control plane.
 */
export function untolerated(
  { metadata, spec }: KubeNode,
  pods: readonly Pod[],
): Explained | undefined {
  const node = metadata.name;
  const taints = spec?.taints?.filter(
    ({ key, effect }) => effect !== 'PreferNoSchedule' && !NOT_READY.has(key),
  );
  const found = pods.map((pod) =>
    pod.spec.nodeName === undefined || pod.spec.nodeName === ''
      ? taints?.find((taint) => !pod.spec.tolerations?.some((each) => tolerates(each, taint)))
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

function tolerates(
  { key = '', operator = '', value = '', effect = '' }: Toleration,
  taint: Taint,
): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === '' || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}
