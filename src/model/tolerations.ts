import type { KubeNode, Pod, Toleration } from '../api/core.ts';

export type Taint = NonNullable<NonNullable<KubeNode['spec']>['taints']>[number];

/** Taints of a node that is not Ready, from which pods are evicted after a time. */
const NOT_READY: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
]);

/** Time (s) before pods leave such a node, as the API server sets it (DefaultTolerationSeconds). */
const EVICTED_AFTER = 300;

/**
 * Returns the taint for which the scheduler does not place pods with these tolerations on a node;
 * undefined if it may place them there. Ignores that a node is not Ready. Pure.
 */
export const untoleratedTaint = (
  { spec }: KubeNode,
  tolerations: readonly Toleration[] = [],
): Taint | undefined =>
  spec?.taints?.find(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' &&
      !NOT_READY.has(taint.key) &&
      !tolerations.some((each) => tolerates(each, taint)),
  );

function tolerates(
  { key = '', operator = '', value = '', effect = '' }: Toleration,
  taint: Taint,
): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === '' || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}

/**
 * Returns the tolerations for another pod that runs where `pod` may run. The other pod leaves a
 * node that is not Ready, even if `pod` does not: the creator of `pod` could otherwise make it
 * occupy its place for as long as a node is lost. Pure.
 */
export function tolerationsLike(pod: Pod): Toleration[] {
  const others = (pod.spec.tolerations ?? []).filter(({ key = '' }) => !NOT_READY.has(key));
  if (!others.some(({ key = '' }) => key === '')) return others;
  // Kubernetes evicts by the shortest time of the first toleration for each taint.
  const first = [...NOT_READY].map((key) => ({
    ...{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: EVICTED_AFTER },
  }));
  return [...first, ...others];
}
