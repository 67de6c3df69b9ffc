import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
import { DRIVER } from '../../api/names.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { getOrUndefined } from '../../kube/get-or-undefined.ts';
import { claimOf } from '../../model/claim-volume.ts';
import { dynamicClass } from '../../model/dynamic-class.ts';
import { driverOfSpec } from '../../storage/registry.ts';
import { decideReclaim } from './decide-reclaim.ts';
import type { ClaimReconcilerDeps } from './deps.ts';

type ReclaimerDeps = Pick<
  ClaimReconcilerDeps,
  | 'client'
  | 'claims'
  | 'volumes'
  | 'persistentVolumes'
  | 'storageClasses'
  | 'clonesOf'
  | 'managesNode'
  | 'logger'
>;

/**
 * Returns the reconcile function, by Volume name, that deletes Volumes of
 * deleted claims if the policy permits.
 */
export function createReclaimer({
  client,
  claims,
  volumes,
  persistentVolumes,
  ...deps
}: ReclaimerDeps) {
  return async (name: string, signal: AbortSignal): Promise<undefined> => {
    let live:
      | { claim: PersistentVolumeClaim | undefined; pv: PersistentVolume | undefined }
      | undefined;
    for (;;) {
      signal.throwIfAborted();
      const volume = volumes.get(name);
      const of = volume && claimOf(volume);
      if (volume === undefined || of === undefined || !deps.managesNode(volume.spec.nodeName))
        return undefined;
      const known = claims.get(of.name, of.namespace);
      const claim = known?.metadata.uid === of.uid ? known : undefined;
      const clones = deps.clonesOf(name);
      const { action } = decideReclaim({
        volume,
        pv: live === undefined ? persistentVolumes.get(name) : live.pv,
        claim,
        liveClaim: live && { found: live.claim },
        clones,
      });
      if (action === undefined) {
        const [clone] = clones;
        if (claim === undefined && clone !== undefined) {
          deps.logger.info(
            { volume: name, clone: clone.metadata.name },
            'keeping volume of deleted claim while it is cloned',
          );
        }
        return undefined;
      }
      if (action.do === 'read-live') {
        const found = await getOrUndefined<PersistentVolumeClaim>(
          client,
          PERSISTENT_VOLUME_CLAIMS,
          of.name,
          of.namespace,
        );
        // A claim of that name may be another one.
        live = {
          claim: found?.metadata.uid === of.uid ? found : undefined,
          pv: await getOrUndefined<PersistentVolume>(client, PERSISTENT_VOLUMES, name),
        };
        continue;
      }
      const { uid } = volume.metadata;
      try {
        if (live?.pv !== undefined && isKeptByClass(volume)) {
          await client.patch(VOLUMES, name, {
            metadata: { uid },
            spec: { onDelete: onDeleteOf(volume) },
          });
        }
        await client.delete(VOLUMES, name, { uid });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      deps.logger.info(
        { volume: name, claim: `${of.namespace}/${of.name}` },
        'deleted volume of deleted claim',
      );
      return undefined;
    }
  };

  /**
   * Returns `Wipe` if the class requires it, or if later volumes could expose the data: a Block
   * volume has no file system that hides it.
   */
  function onDeleteOf({ spec }: Volume): 'Delete' | 'Wipe' {
    const storageClass = deps.storageClasses.get(spec.storageClassName);
    const options = storageClass?.provisioner === DRIVER ? dynamicClass(storageClass) : undefined;
    const wipes = options !== undefined && 'wipe' in options;
    return wipes || driverOfSpec(spec).exposesOldData?.(spec) ? 'Wipe' : 'Delete';
  }
}

/**
 * Reports whether Retain comes from the class: then the PersistentVolume's policy, changed since,
 * takes precedence. Retain from another author stays.
 */
const isKeptByClass = ({ spec: { onDelete, template } }: Volume): boolean =>
  onDelete === 'Retain' && template?.spec?.persistentVolumeReclaimPolicy === 'Retain';
