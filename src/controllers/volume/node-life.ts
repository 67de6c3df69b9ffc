import type { KubeNode } from '../../api/core.ts';

/**
 * What a node's kubelet tells of its life, as text: another one than before means that the node has booted, went away or
 * came back meanwhile, and that what was seen of it before counts no longer.
 */
export function lifeOf(node: KubeNode | undefined): string {
  const ready = node?.status?.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  return `${node?.status?.nodeInfo?.bootID ?? ''} ${ready ?? false}`;
}
