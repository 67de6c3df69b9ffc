import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/core.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { claimOf } from '../../../model/claim-volume.ts';
import { readNamed } from '../../lib/read-result.ts';

export interface OwningClaim {
  namespace: string;
  name: string;
}

/**
 * Returns the claim that a Volume was created for, and whose size it follows; undefined if there is
 * none, or no longer. A claim that the user may not read counts as existing.
 * @param pv the Volume's own PersistentVolume, which is bound to another claim after a population
 */
export async function owningClaim(
  volume: Volume,
  pv: PersistentVolume | undefined,
  client: KubeClient,
  signal: AbortSignal,
): Promise<OwningClaim | undefined> {
  const first = claimOf(volume);
  if (first === undefined) return undefined;
  const bound = pv?.spec.claimRef;
  const { namespace = first.namespace, name = first.name, uid = first.uid } = bound ?? first;
  const read = await readNamed<PersistentVolumeClaim>(client, PERSISTENT_VOLUME_CLAIMS, name, {
    namespace,
    signal,
  });
  const isGone = 'absent' in read || ('found' in read && read.found.metadata.uid !== uid);
  return isGone ? undefined : { namespace, name };
}
