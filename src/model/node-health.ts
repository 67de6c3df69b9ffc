import type { KubeNode } from '../api/core.ts';
import { OUT_OF_SERVICE_TAINT } from '../api/names.ts';
import { NODES } from '../api/resources.ts';
import { getOrUndefined } from '../kube/get-or-undefined.ts';
import type { KubeClient } from '../kube/types.ts';

/** Default wait (ms) for a NotReady node: kube-controller-manager's maxWaitForUnmountDuration. */
export const MAX_WAIT_FOR_UNMOUNT = 6 * 60_000;

export const readyConditionOf = (node: KubeNode | undefined) =>
  node?.status?.conditions?.find(({ type }) => type === 'Ready');

export const isNodeReady = (node: KubeNode | undefined): boolean =>
  readyConditionOf(node)?.status === 'True';

/** Returns the start of NotReady in ms since the epoch; undefined if Ready, or not stated. */
export function notReadySince(node: KubeNode | undefined): number | undefined {
  const since = Date.parse(readyConditionOf(node)?.lastTransitionTime ?? '');
  return isNodeReady(node) || Number.isNaN(since) ? undefined : since;
}

/** Returns for how long (ms) a node is NotReady; undefined if it is Ready, or that is unknown. */
export type NotReadyAge = (node: KubeNode) => number | undefined;

/**
 * Returns the ages of NotReady nodes by the clock of the API server, after it has answered. The
 * clock of this machine may be wrong, and data depends on the age.
 */
export const notReadyAgeBy =
  (client: Pick<KubeClient, 'serverTime'>): NotReadyAge =>
  (node) => {
    const [since, now] = [notReadySince(node), client.serverTime()];
    return since === undefined || now === undefined ? undefined : now - since;
  };

/**
 * Reports whether a person vouches that the machine is off: its Node has the out-of-service taint,
 * and is not Ready. A Ready node proves that the taint is a mistake, or outdated.
 */
export function isOff(node: KubeNode): boolean {
  const tainted = node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE_TAINT) ?? false;
  return tainted && !isNodeReady(node);
}

/**
 * Reads the Node from the API server, since a cache may not know that the node is back. Nobody
 * vouches for a machine without a Node.
 */
export async function isNodeOff(client: Pick<KubeClient, 'get'>, name: string): Promise<boolean> {
  const node = await getOrUndefined<KubeNode>(client, NODES, name);
  return node !== undefined && isOff(node);
}
