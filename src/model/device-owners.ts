import type { Volume } from '../api/volume.ts';
import type { Observed } from '../storage/registry.ts';

/**
 * What was looked at, and which Volumes of the cluster it belongs to by the UUIDs that are on it. A node keeps no record
 * of what MetalK8s made.
 * @param volumeOfUid is called only where something is on the device
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
