import { notReadySince } from '../../../model/node-health.ts';
import { foundIn } from '../../lib/read-result.ts';
import { foreignFinalizers, isForeign } from '../deleting.ts';
import { notReadyFix } from '../node.ts';
import type { Diagnosis } from '../types.ts';
import { type PodFacts, podName } from './facts.ts';

/**
 * Reports what blocks the deletion of a pod, which waits for no volume any more; undefined if it is
 * not being deleted. Pure.
 */
export function deletingPod({ pod, node }: PodFacts): Diagnosis | undefined {
  const { namespace = '', name, finalizers = [], deletionTimestamp: since } = pod.metadata;
  const { nodeName } = pod.spec;
  if (since === undefined) return undefined;
  if (nodeName && notReadySince(foundIn(node)) !== undefined) {
    return {
      cause: 'NodeNotReady',
      chain: [{ kind: 'Node', name: nodeName }],
      holdup: `it is being deleted, and node ${nodeName}, which must terminate it, is not Ready`,
      since,
      next: { when: `when node ${nodeName} is back` },
      fix: notReadyFix(nodeName),
    };
  }
  const foreign = finalizers.filter(isForeign);
  if (foreign.length > 0) {
    return {
      cause: 'ForeignFinalizer',
      holdup: `it is being deleted, and waits for the finalizers ${finalizers.join(', ')}`,
      since,
      next: { when: 'when they are removed' },
      fix: foreignFinalizers(['pod', name, '-n', namespace], finalizers, foreign),
    };
  }
  return {
    nothing: `Pod ${podName(pod)} is being deleted, and no longer waits for volumes${nodeName ? `: node ${nodeName} terminates it` : ''}`,
  };
}
