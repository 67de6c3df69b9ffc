import type { Clock } from '../../kube/types.ts';
import type { Executor } from '../../nodes/job.ts';
import { askEach } from '../lib/nodes/ask-each.ts';
import { type MeasuredPlace, measurePlace } from './measure-place.ts';
import type { Place } from './storage-place.ts';

/** Number of nodes that are observed in parallel: an executor's limit. */
const AT_ONCE = 64;

/**
 * Observes places on nodes, each node for at most `timeoutMs`. Returns the places of each node by
 * their names.
 */
export async function measurePlaces(
  executor: Pick<Executor, 'observe'>,
  wanted: ReadonlyMap<string, ReadonlyMap<string, Place>>,
  timeoutMs: number,
  clock: Clock,
): Promise<Map<string, Map<string, MeasuredPlace>>> {
  const nodes = [...wanted.keys()];
  const placesOn = (node: string) => [...(wanted.get(node) ?? [])];
  const observed = await askEach<Map<string, MeasuredPlace> | string>(
    nodes,
    { timeoutMs, atOnce: AT_ONCE },
    clock,
    async (node) => {
      const found = new Map<string, MeasuredPlace>();
      // A refused place does not hide the others.
      for (const [name, place] of placesOn(node))
        found.set(name, await measurePlace(executor, node, place));
      return found;
    },
    (message) => message,
  );
  return new Map(
    nodes.map((node, index) => {
      const answer = observed[index];
      if (answer instanceof Map) return [node, answer];
      const why = `node ${node}: ${answer}`;
      return [node, new Map(placesOn(node).map(([name]) => [name, { why }]))];
    }),
  );
}
