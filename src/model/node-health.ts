import type { KubeNode } from '../api/core.ts';
import { OUT_OF_SERVICE_TAINT } from '../api/names.ts';

/** How long a node is waited for that is not Ready, as kube-controller-manager does (maxWaitForUnmountDuration). ms */
export const MAX_WAIT_FOR_UNMOUNT = 6 * 60_000;

/** What its kubelet, or who watches over it, says of its being Ready. */
export const readyConditionOf = (node: KubeNode | undefined) =>
  node?.status?.conditions?.find(({ type }) => type === 'Ready');

export const isNodeReady = (node: KubeNode | undefined): boolean =>
  readyConditionOf(node)?.status === 'True';

/** ms since the epoch; undefined for a node that is Ready, or does not say. */
export function notReadySince(node: KubeNode | undefined): number | undefined {
  const since = Date.parse(readyConditionOf(node)?.lastTransitionTime ?? '');
  return isNodeReady(node) || Number.isNaN(since) ? undefined : since;
}

/**
 * Whether somebody vouches that the machine is off: the out-of-service taint is on its Node, and no kubelet says otherwise.
 * A kubelet that reports Ready is proof that the taint is a mistake, or of before.
 */
export function isOff(node: KubeNode): boolean {
  const tainted = node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE_TAINT) ?? false;
  return tainted && !isNodeReady(node);
}
