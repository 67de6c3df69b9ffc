import type { KubeNode } from '../api/core.ts';
import { isNodeReady } from './node-health.ts';

/**
 * A life of a node, as its kubelet reports it: another one than before means that the node has booted, went away or came back
 * meanwhile, and that what was seen of it before counts no longer.
 */
export interface NodeIncarnation {
  boot: string;
  ready: boolean;
}

export const incarnationOf = (node: KubeNode | undefined): NodeIncarnation => ({
  boot: node?.status?.nodeInfo?.bootID ?? '',
  ready: isNodeReady(node),
});

/** The same as text, to be compared. */
export function nodeIncarnation(node: KubeNode | undefined): string {
  const { boot, ready } = incarnationOf(node);
  return `${boot} ${ready}`;
}
