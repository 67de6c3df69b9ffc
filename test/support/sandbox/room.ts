import type {
  CsiDriver,
  CsiStorageCapacity,
  KubeNode,
  StorageClass,
} from '../../../src/api/core.ts';
import { parseQuantity } from '../../../src/api/quantity.ts';
import type { StoredClaim } from '../../../src/sandbox/controllers/fit.ts';

/** Scheduler's view of the storage capacity. */
export interface RoomView {
  driver(name: string): CsiDriver | undefined;
  /** Capacities in all namespaces. */
  capacities: CsiStorageCapacity[];
}

/** Reports whether a class allows volumes on a node (allowedTopologies). */
export function isAllowed(
  { allowedTopologies = [] }: Partial<StorageClass>,
  node: KubeNode,
): boolean {
  const labels = node.metadata.labels ?? {};
  return (
    allowedTopologies.length === 0 ||
    allowedTopologies.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) => values.includes(labels[key] ?? '')),
    )
  );
}

/**
 * Implements the scheduler's hasEnoughCapacity: if a driver publishes capacities, a node without
 * one has no space.
 */
export function hasRoom(
  { spec }: StoredClaim,
  provisioner: string,
  node: KubeNode,
  view: RoomView,
): boolean {
  if (view.driver(provisioner)?.spec.storageCapacity !== true) return true;
  const wanted = parseQuantity(spec.resources.requests?.storage ?? '0');
  return view.capacities.some(
    (one) =>
      one.storageClassName === spec.storageClassName &&
      isSufficient(one, wanted) &&
      isAbout(one, node),
  );
}

function isSufficient(
  { capacity, maximumVolumeSize }: CsiStorageCapacity,
  wanted: bigint,
): boolean {
  const limit = maximumVolumeSize ?? capacity;
  return limit !== undefined && parseQuantity(limit) >= wanted;
}

/**
 * Reports whether a capacity covers a node. Supports only label selectors, as provisioners write
 * them.
 */
function isAbout(
  { nodeTopology }: CsiStorageCapacity,
  { metadata: { labels = {} } }: KubeNode,
): boolean {
  const wanted = Object.entries(nodeTopology?.matchLabels ?? {});
  return (
    nodeTopology !== undefined &&
    !('matchExpressions' in nodeTopology) &&
    wanted.every(([key, value]) => labels[key] === value)
  );
}
