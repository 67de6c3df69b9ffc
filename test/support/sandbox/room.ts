import type {
  CsiDriver,
  CsiStorageCapacity,
  KubeNode,
  StorageClass,
} from '../../../src/api/core.ts';
import { parseQuantity } from '../../../src/api/quantity.ts';
import type { StoredClaim } from '../../../src/sandbox/controllers/fit.ts';

/** What a scheduler knows of where provisioners have room. */
export interface RoomView {
  driver(name: string): CsiDriver | undefined;
  /** Of all namespaces. */
  capacities: CsiStorageCapacity[];
}

/** Whether volumes of a class may be made on a node (allowedTopologies). */
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

/** As the scheduler's hasEnoughCapacity: where a driver says what room there is, a node that it says nothing of has none. */
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

/** Of selectors those by labels alone, which provisioners write; without one it is about no node. */
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
