import type { KubeNode, PersistentVolume } from '../../api/core.ts';
import { PROTECTION_FINALIZER } from '../../api/names.ts';
import { NODES, PERSISTENT_VOLUMES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { getOrUndefined } from '../../kube/get-or-undefined.ts';
import type { Informer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import { type ObjectWrites, removeFinalizer } from './object-writes.ts';
import { pausedBy } from './paused.ts';
import { statusPatch } from './status.ts';

export interface VolumeWritesDeps {
  client: KubeClient;
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  nodes: Informer<KubeNode>;
}

/** Creates the writer of Volumes, each with the PersistentVolume of its name. */
export function createVolumeWrites({
  client,
  volumes,
  persistentVolumes,
  nodes,
}: VolumeWritesDeps): ObjectWrites {
  return {
    async writeStatus({ metadata: { name, uid, resourceVersion }, status: before }, status) {
      const patch = { metadata: { uid, resourceVersion }, status: statusPatch(before, status) };
      volumes.recordWrite(
        await client.patch<Volume>(VOLUMES, name, patch, { subresource: 'status' }),
      );
    },
    async protect({ metadata: { name, uid, resourceVersion, finalizers = [] } }) {
      const metadata = { finalizers: [...finalizers, PROTECTION_FINALIZER], uid, resourceVersion };
      volumes.recordWrite(await client.patch(VOLUMES, name, { metadata }));
    },
    release: (volume) => removeFinalizer(client, volumes, VOLUMES, volume),
    async isCurrent(volume, node) {
      const { name, resourceVersion } = volume.metadata;
      const pvVersion = persistentVolumes.get(name)?.metadata.resourceVersion;
      const [live, pv, kubeNode] = await Promise.all([
        client.get<Volume>(VOLUMES, name),
        getOrUndefined<PersistentVolume>(client, PERSISTENT_VOLUMES, name),
        getOrUndefined<KubeNode>(client, NODES, node),
      ]);
      volumes.recordWrite(live);
      if (pv !== undefined) persistentVolumes.recordWrite(pv);
      if (kubeNode !== undefined) nodes.recordWrite(kubeNode);
      return (
        live.metadata.resourceVersion === resourceVersion &&
        persistentVolumes.get(name)?.metadata.resourceVersion === pvVersion &&
        pausedBy(live, kubeNode) === undefined
      );
    },
    async refresh(name) {
      const live = await getOrUndefined<Volume>(client, VOLUMES, name);
      if (live === undefined) return false;
      volumes.recordWrite(live);
      const pv = await getOrUndefined<PersistentVolume>(client, PERSISTENT_VOLUMES, name);
      if (pv !== undefined) persistentVolumes.recordWrite(pv);
      return true;
    },
    objectOf: (volume) => volume,
  };
}
