import type { KubeNode } from '../api/core.ts';
import { OUT_OF_SERVICE_TAINT } from '../api/names.ts';
import { NODES } from '../api/resources.ts';
import { getOrUndefined } from '../kube/get-or-undefined.ts';
import type { KubeClient } from '../kube/types.ts';

/** Default wait for a node that is not Ready, as in kube-controller-manager (maxWaitForUnmountDuration). ms */
export const MAX_WAIT_FOR_UNMOUNT = 6 * 60_000;

/** The condition Ready, as its kubelet or kube-controller-manager wrote it. */
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

/** Asks the API server, for a cache may not know yet that a node is back. Nobody vouches for a machine whose Node is gone. */
export async function isNodeOff(client: Pick<KubeClient, 'get'>, name: string): Promise<boolean> {
  const node = await getOrUndefined<KubeNode>(client, NODES, name);
  return node !== undefined && isOff(node);
}
