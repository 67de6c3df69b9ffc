import type { Volume } from '../api/volume.ts';
import type { Observed } from '../storage/types.ts';

/**
 * What was looked at, and which Volumes of the cluster it belongs to by the UUIDs that are on it. A node keeps no record
 * of what MetalK8s made.
 * @param volumes is called only where something is on the device
 */
export function withOwners(observed: Observed, uid: string, volumes: () => readonly Volume[]): Observed {
  if (observed.type !== 'raw' || observed.target.is !== 'device') return observed;
  const { uuids } = observed.target.facts;
  if (uuids.length === 0) return observed;
  const owners = volumes().flatMap(({ metadata }) =>
    metadata.uid !== undefined && metadata.uid !== uid && uuids.includes(metadata.uid)
      ? [{ uid: metadata.uid, name: metadata.name }]
      : [],
  );
  return { ...observed, others: [...owners, ...observed.others] };
}
