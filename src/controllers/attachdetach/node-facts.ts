import type { KubeNode } from '../../api/core.ts';
import { nodeSigns } from '../../model/node-death.ts';
import { type PausedObject, pausedObject } from '../../model/pause.ts';
import type { NodeFacts } from './types.ts';

/**
 * Returns the facts about a node from its Node object.
 * @param node undefined if the Node does not exist
 * @param paused another object that pauses all writes
 * @param notReadySince returns since when a node is NotReady, by the clock of the decision
 */
export function nodeFactsOf(
  node: KubeNode | undefined,
  paused: PausedObject | undefined,
  notReadySince: (node: KubeNode) => number | undefined,
): NodeFacts {
  return {
    ...nodeSigns(node),
    notReadySince: node && notReadySince(node),
    paused: paused ?? pausedObject('Node', node),
  };
}
