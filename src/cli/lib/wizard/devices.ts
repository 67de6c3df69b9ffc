import { VOLUMES } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { nodeOf } from '../../../model/volume-nodes.ts';
import type { Executor } from '../../../nodes/job.ts';
import {
  type OfferedDevice,
  offeredProbes,
  readOffered,
} from '../../../storage/offered-devices.ts';
import { answersOf } from '../../../storage/probe-results.ts';
import { foundIn, reading } from '../read-result.ts';

/** Device of a node, with the reason why no new Volume may have it; undefined if one may. */
export type NodeDevice = Omit<OfferedDevice, 'usedFor'> & { use?: string };

/**
 * Reads the disks and partitions of a node. Throws a NodeError or an ObservationError.
 * @param owners names of Volumes by their devices, from `ownersOn`
 */
export async function readDevices(
  node: string,
  executor: Pick<Executor, 'observe'>,
  owners: ReadonlyMap<string, string>,
): Promise<NodeDevice[]> {
  const answers = answersOf(await executor.observe(node, offeredProbes()));
  return withUses(readOffered(answers), owners);
}

/** Adds the use of each device: by a Volume, else the one that the node shows. Pure. */
export const withUses = (
  devices: readonly OfferedDevice[],
  owners: ReadonlyMap<string, string>,
): NodeDevice[] =>
  devices.map(({ usedFor, ...device }) => {
    const owner = [device.path, ...device.links].map((name) => owners.get(name)).find(Boolean);
    const use = owner === undefined ? usedFor : `Volume ${owner}'s`;
    return { ...device, ...(use !== undefined && { use }) };
  });

/**
 * Returns the names of the Volumes on devices of a node, by the device path in their spec; none if
 * the user may not list Volumes.
 */
export async function ownersOn(
  node: string,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const read = await reading(listAll<Volume>(client, VOLUMES, { signal }));
  return new Map(
    (foundIn(read)?.items ?? [])
      .filter((volume) => nodeOf(volume) === node)
      .flatMap(({ metadata, spec }) =>
        spec.rawBlockDevice ? [[spec.rawBlockDevice.devicePath, metadata.name] as const] : [],
      ),
  );
}
