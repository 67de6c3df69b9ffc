import type { KubeNode } from '../../api/core.ts';
import type { Informer } from '../../kube/informer.ts';
import { notReadySince, readyConditionOf } from '../../model/node-health.ts';
import type { Clock } from '../../workqueue/clock.ts';

/** Transition of a node to NotReady. */
interface Transition {
  /** Time in the Node, by the clock of kube-controller-manager. */
  recorded: string | undefined;
  /** By `now` of the clock. */
  at: number;
}

/**
 * Returns a function that returns since when a node is NotReady, by `now` of the clock; undefined
 * if it is Ready, or states no time. Call this before the informer starts.
 *
 * The recorded time is another machine's time of day. As in client-go's leader election, the time
 * counts at which this process observed the record: otherwise, a clock that is ahead ends the wait
 * for a node at once. The wait begins again when this process starts.
 */
export function createNotReadyTimes(
  nodes: Pick<Informer<KubeNode>, 'onChange'>,
  clock: Pick<Clock, 'now'>,
): (node: KubeNode) => number | undefined {
  const transitions = new Map<string, Transition>();

  function transitionOf(node: KubeNode): Transition | undefined {
    const { name } = node.metadata;
    if (notReadySince(node) === undefined) {
      transitions.delete(name);
      return undefined;
    }
    const recorded = readyConditionOf(node)?.lastTransitionTime;
    const known = transitions.get(name);
    if (known?.recorded === recorded) return known;
    const found = { recorded, at: clock.now() };
    transitions.set(name, found);
    return found;
  }

  nodes.onChange(({ type, object }) => {
    if (type === 'deleted') transitions.delete(object.metadata.name);
    else transitionOf(object);
  });
  return (node) => transitionOf(node)?.at;
}
