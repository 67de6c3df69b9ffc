import type { PersistentVolume } from '../../api/core.ts';
import { phaseOf } from '../../api/phase.ts';
import type { Volume } from '../../api/volume.ts';
import { isPvOf } from '../../model/persistent-volume.ts';

export type Deletable = { can: true } | { can: false; why: string; hint: string };

/**
 * Reports whether deleting a Volume would remove it at once: the "Volume Deletion Criteria" of the
 * specification. `pv` is the PersistentVolume with the Volume's name, of any owner.
 */
export function deletable(volume: Volume, pv: PersistentVolume | undefined): Deletable {
  const { name, deletionTimestamp } = volume.metadata;
  const look = `See its progress: stowage get volume ${name} -o wide`;
  const phase = deletionTimestamp === undefined ? phaseOf(volume) : 'Terminating';
  switch (phase) {
    case undefined:
      return {
        can: false,
        why: 'its status is not known yet',
        hint: 'Run the daemon, and retry once it has observed the Volume: stowage watch',
      };
    case 'Pending': {
      const message = volume.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
      return {
        can: false,
        why: `its storage is being provisioned${message ? `: ${message}` : ''}`,
        hint: `${look}, and retry once it is provisioned. Or mark it for deletion now, which completes later: kubectl delete volume ${volume.metadata.name} --wait=false`,
      };
    }
    case 'Terminating':
      return { can: false, why: 'it is already being deleted', hint: `${look}.` };
    case 'Available':
    case 'Failed':
      return pv !== undefined && isPvOf(pv, volume) ? unlessUsed(pv) : { can: true };
  }
}

function unlessUsed(pv: PersistentVolume): Deletable {
  switch (pv.status?.phase) {
    case 'Available':
    case 'Released':
    case 'Failed':
      return { can: true };
    case 'Bound': {
      const { namespace, name } = pv.spec.claimRef ?? {};
      return {
        can: false,
        why: `its PersistentVolume is bound to the claim ${namespace}/${name}`,
        hint: `Delete that claim first, if its data is not needed: kubectl delete pvc ${name} -n ${namespace}`,
      };
    }
    default:
      return {
        can: false,
        why: 'its PersistentVolume is Pending',
        hint: 'Retry once the PersistentVolume is Available.',
      };
  }
}
