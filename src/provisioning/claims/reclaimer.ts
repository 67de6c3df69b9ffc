import type { PersistentVolumeClaim } from '../../api/core.ts';
import { PERSISTENT_VOLUME_CLAIMS, VOLUMES } from '../../api/resources.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { claimOf } from './claim-volume.ts';
import { decideReclaim } from './decide-reclaim.ts';
import type { ClaimReconcilerDeps } from './reconciler.ts';
import type { ReclaimInput } from './types.ts';

type ReclaimerDeps = Pick<
  ClaimReconcilerDeps,
  'client' | 'claims' | 'volumes' | 'persistentVolumes' | 'actsFor' | 'logger'
>;

/** Deletes the Volumes of claims that are gone, where that is to be. The name is the Volume's. */
export function createReclaimer({ client, claims, volumes, persistentVolumes, ...deps }: ReclaimerDeps) {
  return async (name: string, signal: AbortSignal): Promise<undefined> => {
    let liveClaim: ReclaimInput['liveClaim'];
    for (;;) {
      signal.throwIfAborted();
      const volume = volumes.get(name);
      const of = volume && claimOf(volume);
      if (volume === undefined || of === undefined || !deps.actsFor(volume.spec.nodeName)) return undefined;
      const known = claims.get(of.name, of.namespace);
      const claim = known?.metadata.uid === of.uid ? known : undefined;
      const pv = persistentVolumes.get(name);
      const { action } = decideReclaim({ volume, pv, claim, liveClaim });
      if (action === undefined) return undefined;
      if (action.do === 'read-claim') {
        liveClaim = { found: await liveClaimOf(of) };
        continue;
      }
      try {
        await client.delete(VOLUMES, name, { uid: volume.metadata.uid });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      deps.logger.info({ volume: name, claim: `${of.namespace}/${of.name}` }, 'volume of a deleted claim');
      return undefined;
    }
  };

  /** The claim of that UID, if the API server has it: a claim of its name may be another one. */
  async function liveClaimOf({ namespace, name, uid }: { namespace: string; name: string; uid: string }) {
    try {
      const found = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, { namespace });
      return found.metadata.uid === uid ? found : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
