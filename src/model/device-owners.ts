import type { Volume } from '../api/volume.ts';
import type { Observed } from '../storage/registry.ts';

/**
 * Adds the Volumes of the cluster that own the observed device, by the UUIDs on it. Nodes have no
 * record of MetalK8s's volumes.
 * @param volumeOfUid called only if the device has UUIDs
 */
export function withDeviceOwners(
  observed: Observed,
  uid: string,
  volumeOfUid: (uid: string) => Volume | undefined,
): Observed {
  if (!('target' in observed) || observed.target.is !== 'device') return observed;
  const { uuids } = observed.target.facts;
  if (uuids.length === 0) return observed;
  const owners = [...new Set(uuids)].flatMap((other) => {
    const name = other === uid ? undefined : volumeOfUid(other)?.metadata.name;
    return name === undefined ? [] : [{ uid: other, name }];
  });
  return { ...observed, others: [...owners, ...observed.others] };
}
