import type { KubeNode } from '../api/core.ts';
import { isNodeReady } from './node-health.ts';

/**
 * Incarnation of a node, as its kubelet reports it. A change means that the node booted, went away
 * or came back, so that earlier observations count no longer.
 */
export interface NodeIncarnation {
  boot: string;
  ready: boolean;
}

export const incarnationOf = (node: KubeNode | undefined): NodeIncarnation => ({
  boot: node?.status?.nodeInfo?.bootID ?? '',
  ready: isNodeReady(node),
});

/** Returns the incarnation as text, for comparison. */
export function incarnationText(node: KubeNode | undefined): string {
  const { boot, ready } = incarnationOf(node);
  return `${boot} ${ready}`;
}
