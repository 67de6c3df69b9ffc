import { join } from 'node:path';
import type { KubeObject } from '../../../src/api/meta.ts';
import { NAMESPACES } from '../../../src/api/resources.ts';
import { claimsOf, createClass, createSnapshotClass } from '../../support/claim-objects.ts';
import { type DeviceMounts, deviceMounts } from '../../support/device-mounts.ts';
import { type OwnFileSystem, ownFileSystem } from '../../support/loop-mounts.ts';
import { podsOf } from './pods.ts';
import { type Scene, startScene, type ThisMachine } from './scene.ts';

/**
 * A real cluster with dynamic classes of files on an XFS of its own, and pods in its namespaces.
 */
export interface ClaimsScene extends Scene<ThisMachine> {
  /** Claims, by default of the class with WaitForFirstConsumer. */
  claims: ReturnType<typeof claimsOf>;
  podsIn(namespace: string): ReturnType<typeof podsOf>;
  createNamespace(name: string): Promise<void>;
  /** Directory of a class for claims of any kind. */
  directory: string;
  devices: DeviceMounts;
}

const GATE = '--feature-gates=CrossNamespaceVolumeDataSource=true';

/** Starts the scene with the gate enabled in the API server and in the daemon. */
export async function startClaimsScene(): Promise<ClaimsScene> {
  const disk: OwnFileSystem = await ownFileSystem('xfs', 8n << 30n);
  const devices = deviceMounts(disk.path);
  try {
    const scene = await startScene({
      apiServerFlags: [GATE],
      components: ['snapshot-crds', 'referencegrant-crd', 'populator-crds'],
      watchFlags: [GATE],
    });
    const { client } = scene;
    const directory = join(disk.path, 'volumes');
    const more = { allowVolumeExpansion: true };
    await createClass(client, 'immediate', directory, 'xfs', more);
    const volumeBindingMode = 'WaitForFirstConsumer';
    await createClass(client, 'waitforfirstconsumer', directory, 'xfs', {
      ...more,
      volumeBindingMode,
    });
    await createSnapshotClass(client, 'files');
    return {
      ...{ ...scene, directory, devices },
      claims: claimsOf(client, {
        ...{ storageClassName: 'waitforfirstconsumer', size: '304Mi' },
      }),
      podsIn: (namespace) => podsOf(client, namespace),
      async createNamespace(name) {
        const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
        await client.create<KubeObject>(NAMESPACES, namespace);
      },
      async stop() {
        await scene.stop();
        await devices.clean();
        await disk.remove();
      },
    };
  } catch (error) {
    await disk.remove();
    throw error;
  }
}
