import type { KubeNode } from '../../api/core.ts';
import type { Leftover } from '../../api/leftover.ts';
import type { Refused } from '../../api/reasons.ts';
import { LEFTOVERS, NODES, VOLUME_SNAPSHOT_CONTENTS, VOLUMES } from '../../api/resources.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { getOrUndefined } from '../../kube/get-or-undefined.ts';
import type { KubeClient, RequestOptions } from '../../kube/types.ts';
import type { NotReadyAge } from '../../model/node-health.ts';
import { adoptionProblem, nodesToJudge } from './adoption.ts';

/**
 * Reads from the API server why a Volume must not adopt storage: in a stale cache, a node that has
 * returned is still dead. Throws API errors.
 * @param notReadyAge called after the nodes were read
 * @param maxWaitMs time that a node may be NotReady before it counts as dead
 */
export async function readAdoptionProblem(
  volume: Volume,
  client: KubeClient,
  notReadyAge: NotReadyAge,
  maxWaitMs: number,
  options: RequestOptions = {},
): Promise<Refused | undefined> {
  const from = volume.spec.adopt?.uid;
  if (from === undefined) return undefined;
  const { items: volumes } = await listAll<Volume>(client, VOLUMES, options);
  const contents = await readContents(client, options);
  const leftover = await getOrUndefined<Leftover>(client, LEFTOVERS, from);
  const nodes = new Map<string, KubeNode | undefined>();
  for (const name of nodesToJudge(from, { volumes, leftover })) {
    nodes.set(name, await getOrUndefined<KubeNode>(client, NODES, name));
  }
  const nodeNamed = (name: string) => nodes.get(name);
  const claimants = { volumes, leftover, contents, nodeNamed };
  return adoptionProblem(volume, from, claimants, notReadyAge, maxWaitMs);
}

/** Reads all snapshots; none if the cluster has no snapshot CRDs. Throws API errors. */
export async function readContents(
  client: KubeClient,
  options: RequestOptions = {},
): Promise<readonly VolumeSnapshotContent[]> {
  try {
    return (await listAll<VolumeSnapshotContent>(client, VOLUME_SNAPSHOT_CONTENTS, options)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
