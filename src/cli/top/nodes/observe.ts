import type { KubeNode } from '../../../api/core.ts';
import { isDnsSubdomain } from '../../../api/dns-name.ts';
import { StowageError } from '../../../api/errors.ts';
import { NODES, VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import type { Executor } from '../../../nodes/job.ts';
import type { Observed } from '../../lib/get/observe-repeatedly.ts';
import type { GetRequest } from '../../lib/get/resource-view.ts';
import { listNodes } from '../../lib/nodes/list-nodes.ts';
import type { Gap } from '../gaps.ts';
import { measurePlaces } from '../measure-places.ts';
import { DEFAULT_PLACE, placeName, placeOf, placesOf } from '../storage-place.ts';
import type { TopFlags } from '../top-flags.ts';
import { type PlaceRow, placeRow } from './row.ts';

/**
 * Returns the space of the requested nodes, else of all Nodes and of nodes with Volumes, and the
 * figures that are unknown. A node without Volumes has the default directory. Updates `found`, by
 * which nodes are reached.
 */
export async function observeSpace(
  {
    names,
    flags,
    io,
    connection: { client },
  }: Pick<GetRequest<PlaceRow, TopFlags>, 'names' | 'flags' | 'connection' | 'io'>,
  found: Map<string, KubeNode>,
  executor: Executor,
): Promise<Observed<PlaceRow> & { gaps: Gap[] }> {
  const gaps: Gap[] = [];
  const nodes = await listNodes(client, flags.selector, io.signal, (why) =>
    gaps.push({ column: 'ADDRESS', name: 'all nodes', why }),
  );
  found.clear();
  for (const [name, node] of nodes) found.set(name, node);
  const { items } = await listAll<Volume>(client, VOLUMES, { signal: io.signal });
  const byNode = Map.groupBy(items, nodeOf);
  const known = new Set([
    ...nodes.keys(),
    ...(flags.selector === undefined ? [...byNode.keys()].filter(isDnsSubdomain) : []),
  ]);
  const asked = names.length > 0 ? names.filter((name) => known.has(name)) : [...known];
  const wanted = new Map(
    asked.map((node) => {
      const places = placesOf(byNode.get(node) ?? []);
      return [
        node,
        places.size > 0 ? places : new Map([[placeName(DEFAULT_PLACE), DEFAULT_PLACE]]),
      ];
    }),
  );
  const observed = await measurePlaces(executor, wanted, flags.timeout, io.clock);
  const rows: PlaceRow[] = [];
  for (const [node, places] of wanted) {
    for (const storage of places.keys()) {
      const answer = observed.get(node)?.get(storage);
      const there = (byNode.get(node) ?? []).filter((volume) => isIn(volume, storage));
      rows.push(placeRow(node, storage, there, answer));
      if (answer !== undefined && 'why' in answer)
        gaps.push({
          column: 'SIZE',
          name: `${node} ${storage}`,
          ...answer,
          cause: `node ${node}`,
        });
    }
  }
  const errors = names.filter((name) => !known.has(name)).map(unknownNode);
  return { rows, errors, gaps };
}

function isIn(volume: Volume, storage: string): boolean {
  const place = placeOf(volume);
  return place !== undefined && placeName(place) === storage;
}

const unknownNode = (name: string) =>
  new StowageError('not-found', `Node ${name} is not in the cluster, and has no Volumes`, {
    object: { kind: NODES.kind, name },
  });
