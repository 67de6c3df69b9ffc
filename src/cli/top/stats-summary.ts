/** File system of a claim in a pod, as a kubelet reports it. Sizes are in bytes. */
export interface VolumeStats {
  /** Pod that mounts it. */
  pod: { uid: string; namespace: string };
  /** Name of the volume in the pod. */
  volume: string;
  claim: { namespace: string; name: string };
  usedBytes: number;
  capacityBytes: number;
  /** Space for users other than root. */
  availableBytes?: number;
  inodes?: { used: number; total: number };
  /** Time of the measurement by the node's clock, in ms since the epoch. */
  at?: number;
}

/** Part of an answer that may have any form. */
type Unchecked = Record<string, unknown>;

const fieldsOf = (value: unknown): Unchecked =>
  typeof value === 'object' && value !== null ? (value as Unchecked) : {};
const listOf = (value: unknown): Unchecked[] => (Array.isArray(value) ? value.map(fieldsOf) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns a count or a number of bytes; undefined for anything else, and for inexact numbers. */
const countOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

/**
 * Returns the valid figures of claims in a kubelet's summary (k8s.io/kubelet, stats/v1alpha1). A
 * node wrote it: anything may be missing, of another type, or wrong. Pure.
 */
export const readSummary = (summary: unknown): VolumeStats[] =>
  listOf(fieldsOf(summary).pods).flatMap(({ podRef, volume }) => {
    const { uid, namespace } = fieldsOf(podRef);
    return listOf(volume).flatMap((each) => {
      const stats = statsOf(each, { uid: textOf(uid), namespace: textOf(namespace) });
      return stats === undefined ? [] : [stats];
    });
  });

function statsOf(volume: Unchecked, pod: VolumeStats['pod']): VolumeStats | undefined {
  const { name, namespace } = fieldsOf(volume.pvcRef);
  const usedBytes = countOf(volume.usedBytes);
  const capacityBytes = countOf(volume.capacityBytes);
  if (usedBytes === undefined || capacityBytes === undefined || usedBytes > capacityBytes)
    return undefined;
  const availableBytes = countOf(volume.availableBytes);
  const used = countOf(volume.inodesUsed);
  const total = countOf(volume.inodes);
  const at = Date.parse(textOf(volume.time));
  return {
    pod,
    volume: textOf(volume.name),
    claim: { namespace: textOf(namespace), name: textOf(name) },
    usedBytes,
    capacityBytes,
    ...(availableBytes !== undefined && availableBytes <= capacityBytes && { availableBytes }),
    ...(used !== undefined && total !== undefined && used <= total && { inodes: { used, total } }),
    ...(Number.isNaN(at) ? {} : { at }),
  };
}
