import type { KubeNode } from '../../api/core.ts';
import type { Informer } from '../../kube/informer.ts';
import { notReadySince, readyConditionOf } from '../../model/node-health.ts';
import { type Clock, processTimeOf } from '../../workqueue/clock.ts';

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
 * counts at which this process observed the record: otherwise, a clock that is set forward ends the
 * wait for a node at once. A record that is older than this process has the age that it states.
 */
export function createNotReadyTimes(
  nodes: Pick<Informer<KubeNode>, 'onChange' | 'hasSynced'>,
  clock: Pick<Clock, 'now' | 'timeOfDay'>,
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
    const began = nodes.hasSynced() ? undefined : processTimeOf(recorded, clock);
    const found = { recorded, at: began ?? clock.now() };
    transitions.set(name, found);
    return found;
  }

  nodes.onChange(({ type, object }) => {
    if (type === 'deleted') transitions.delete(object.metadata.name);
    else transitionOf(object);
  });
  return (node) => transitionOf(node)?.at;
}
