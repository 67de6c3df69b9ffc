import type { KubeNode } from '../../api/core.ts';
import { isPaused } from '../../api/paused.ts';
import { nodeSigns } from '../../model/node-death.ts';
import type { NodeFacts } from './types.ts';

/**
 * What is known of a node from its Node object.
 * @param node undefined: there is none
 * @param paused which other object says that nothing may be written
 */
export function nodeFactsOf(node: KubeNode | undefined, paused: string | undefined): NodeFacts {
  return {
    ...nodeSigns(node),
    paused: paused ?? (isPaused(node) ? `Node ${node?.metadata.name}` : undefined),
  };
}
