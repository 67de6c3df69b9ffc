import { randomUUID } from 'node:crypto';
import type { StorageClass } from '../../src/api/core.ts';
import { STORAGE_CLASSES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { waitFor } from '../../src/kube/wait.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { sparseVolume } from '../support/cluster.ts';

/** Creates the storage class that `sparseVolume` names. */
export const createClass = (client: KubeClient): Promise<StorageClass> =>
  client.create<StorageClass>(STORAGE_CLASSES, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local' },
    provisioner: 'kubernetes.io/no-provisioner',
  });

/**
 * Creates a sparse Volume of 1 GiB on a node, and deletes it once Available.
 * @returns its name, the time of its creation, and the ms until Available
 */
export async function makeVolume(
  client: KubeClient,
  node: string,
): Promise<{ name: string; asked: Date; ms: number }> {
  const name = `bench-${randomUUID().slice(0, 8)}`;
  const wait = (until: (volume: Volume | undefined) => boolean) =>
    waitFor<Volume>(client, VOLUMES, name, { until, timeoutMs: 60_000, clock: systemClock });
  const available = wait((volume) => volume?.status?.phase === 'Available');
  const asked = new Date();
  const began = performance.now();
  await client.create(VOLUMES, sparseVolume(name, node, '1Gi'));
  await available;
  const ms = performance.now() - began;
  await client.delete(VOLUMES, name);
  await wait((volume) => volume === undefined);
  return { name, asked, ms };
}
