import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { CsiDriver, CsiStorageCapacity } from '../../../api/core.ts';
import { COMPONENT, DRIVER, HOSTNAME_LABEL } from '../../../api/names.ts';
import { parseQuantity } from '../../../api/quantity.ts';
import type { Room } from './capacity-cache.ts';

/**
 * Capacity objects that the scheduler reads (kube-scheduler's volume binding;
 * csistoragecapacities).
 */

export const CAPACITY_LABELS = {
  'app.kubernetes.io/managed-by': COMPONENT,
  'csi.storage.k8s.io/drivername': DRIVER,
};

export const CAPACITY_SELECTOR = Object.entries(CAPACITY_LABELS)
  .map(([name, value]) => `${name}=${value}`)
  .join(',');

/** CSIDriver that enables capacity checks: without it the scheduler takes any node. */
export const CSI_DRIVER: CsiDriver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: DRIVER, labels: { 'app.kubernetes.io/managed-by': COMPONENT } },
  // No CSI driver runs on nodes: the volumes are local.
  spec: { attachRequired: false, podInfoOnMount: false, storageCapacity: true },
};

/** Returns a name unique to a class and node, so that the object is found without a list. */
export const capacityName = (storageClass: string, node: string): string =>
  `${COMPONENT}-${createHash('sha256').update(`${storageClass}/${node}`).digest('hex').slice(0, 32)}`;

export type CapacityAction =
  | { do: 'create' | 'update'; object: CsiStorageCapacity }
  | { do: 'delete'; name: string };

/**
 * Decides the write for the free space of a class on a node. Pure.
 * @param room undefined if the class or the node is gone. Unknown space leaves the published
 *   value. Refused counts as none
 */
export function decideCapacity(
  where: { storageClass: string; node: string; hostname: string; namespace: string },
  room: Room | undefined,
  known: CsiStorageCapacity | undefined,
): CapacityAction | undefined {
  const name = capacityName(where.storageClass, where.node);
  if (room === undefined) return known === undefined ? undefined : { do: 'delete', name };
  if ('unknown' in room) return undefined;
  const bytes = 'refused' in room || room.freeBytes < 0n ? 0n : room.freeBytes;
  const matchLabels = { [HOSTNAME_LABEL]: where.hostname };
  // The topology is immutable, and the label of the node has changed.
  if (known?.nodeTopology !== undefined && !isDeepStrictEqual(known.nodeTopology, { matchLabels }))
    return { do: 'delete', name };
  if (known !== undefined && isClose(bytes, parseQuantity(known.capacity ?? '0'))) return undefined;
  const object: CsiStorageCapacity = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIStorageCapacity',
    metadata: { name, namespace: where.namespace, labels: CAPACITY_LABELS },
    storageClassName: where.storageClass,
    nodeTopology: { matchLabels },
    capacity: String(bytes),
    maximumVolumeSize: String(bytes),
  };
  return { do: known === undefined ? 'create' : 'update', object };
}

/**
 * Reports whether a change is not worth a write: a hundredth, since logs grow and rotate all the
 * time. A change to or from zero is always written.
 */
function isClose(bytes: bigint, published: bigint): boolean {
  const apart = bytes > published ? bytes - published : published - bytes;
  return apart * 100n <= published && (bytes === 0n) === (published === 0n);
}
