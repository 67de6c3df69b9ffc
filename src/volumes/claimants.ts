import type { KubeNode } from '../api/core.ts';
import type { Leftover } from '../api/leftover.ts';
import { LEFTOVERS, NODES, VOLUMES } from '../api/resources.ts';
import type { Volume } from '../api/volume.ts';
import { listAll } from '../kube/client.ts';
import type { KubeClient, RequestOptions } from '../kube/types.ts';
import { type AdoptionProblem, adoptionProblem, nodesToJudge } from './adoption.ts';
import { liveOf } from './subjects.ts';

/**
 * Asks the API server itself what speaks against a Volume's adoption of storage: by a cache that is minutes old a node would be
 * dead that is back. Throws what the reads throw.
 */
export async function readAdoptionProblem(
  volume: Volume,
  client: KubeClient,
  now: number,
  options: RequestOptions = {},
): Promise<AdoptionProblem | undefined> {
  const from = volume.spec.adopt?.uid;
  if (from === undefined) return undefined;
  const { items: volumes } = await listAll<Volume>(client, VOLUMES, options);
  const leftover = await liveOf<Leftover>(client, LEFTOVERS, from);
  const nodes = new Map<string, KubeNode | undefined>();
  for (const name of nodesToJudge(from, { volumes, leftover })) {
    nodes.set(name, await liveOf<KubeNode>(client, NODES, name));
  }
  return adoptionProblem(volume, from, { volumes, leftover, nodeNamed: (name) => nodes.get(name) }, now);
}
