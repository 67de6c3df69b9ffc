import type { KubeNode } from '../api/core.ts';
import { isNodeReady } from './node-health.ts';

/**
 * What a node's kubelet tells of its life, as text: another one than before means that the node has booted, went away or
 * came back meanwhile, and that what was seen of it before counts no longer.
 */
export function nodeIncarnation(node: KubeNode | undefined): string {
  return `${node?.status?.nodeInfo?.bootID ?? ''} ${isNodeReady(node)}`;
}
