import type { KubeNode } from '../../api/core.ts';
import type { Leftover, LeftoverStatus } from '../../api/leftover.ts';
import { LEFTOVERS, NODES, VOLUMES } from '../../api/resources.ts';
import type { Volume, VolumeStatus } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import { getOrUndefined } from '../../kube/get-or-undefined.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { ObjectWrites } from './object-writes.ts';
import { pausedBy } from './paused.ts';

export interface LeftoverWritesDeps {
  client: KubeClient;
  leftovers: Informer<Leftover>;
  volumes: Informer<Volume>;
  nodes: Informer<KubeNode>;
}

/**
 * Creates the writer of Leftovers, as shown by `volumeOf`: under their own name, with the UID of
 * the Volume.
 */
export function createLeftoverWrites({
  client,
  leftovers,
  volumes,
  nodes,
}: LeftoverWritesDeps): ObjectWrites {
  const ownUid = ({ metadata }: Volume) => leftovers.get(metadata.name)?.metadata.uid;
  return {
    async writeStatus(volume, status) {
      const { name, resourceVersion } = volume.metadata;
      const patch = {
        metadata: { uid: ownUid(volume), resourceVersion },
        status: withoutRecord(status),
      };
      leftovers.recordWrite(
        await client.patch<Leftover>(LEFTOVERS, name, patch, { subresource: 'status' }),
      );
    },
    async protect() {
      // A Leftover has no finalizer: deleting it manually discards it.
    },
    async release(volume) {
      await client.delete(LEFTOVERS, volume.metadata.name, { uid: ownUid(volume) });
    },
    async isCurrent(volume, node) {
      const { name, resourceVersion, uid } = volume.metadata;
      const [live, kubeNode, { items }] = await Promise.all([
        client.get<Leftover>(LEFTOVERS, name),
        getOrUndefined<KubeNode>(client, NODES, node),
        listAll<Volume>(client, VOLUMES),
      ]);
      leftovers.recordWrite(live);
      if (kubeNode !== undefined) nodes.recordWrite(kubeNode);
      const owner = items.find((other) => other.metadata.uid === uid);
      if (owner !== undefined) volumes.recordWrite(owner);
      return (
        live.metadata.resourceVersion === resourceVersion &&
        pausedBy(live, kubeNode) === undefined &&
        owner === undefined
      );
    },
    async refresh(name) {
      const live = await getOrUndefined<Leftover>(client, LEFTOVERS, name);
      if (live !== undefined) leftovers.recordWrite(live);
      return live !== undefined;
    },
    objectOf: (volume) => leftovers.get(volume.metadata.name) ?? volume,
  };
}

/** Returns the status without the fields that a Leftover has in its spec. */
function withoutRecord({
  phase,
  conditions,
  job,
  attempt,
  observedGeneration,
}: VolumeStatus): LeftoverStatus {
  return JSON.parse(
    JSON.stringify({ phase, conditions, job, attempt, observedGeneration }),
  ) as LeftoverStatus;
}
