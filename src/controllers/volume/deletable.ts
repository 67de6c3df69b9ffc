import type { PersistentVolume } from '../../api/core.ts';
import { READY_REASON } from '../../api/names.ts';
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
  const progressHint = `See its progress: stowage get volume ${name} -o wide`;
  const phase = deletionTimestamp === undefined ? phaseOf(volume) : 'Terminating';
  switch (phase) {
    case undefined:
      return {
        can: false,
        why: 'its status is not known yet',
        hint: 'Run the daemon, and retry once it has observed the Volume: stowage watch',
      };
    case 'Pending': {
      const ready = volume.status?.conditions?.find(({ type }) => type === 'Ready');
      return {
        can: false,
        why: `its storage is being provisioned${ready?.message ? `: ${ready.message}` : ''}`,
        // The node may be lost, or may never have existed: no retry deletes the Volume then.
        hint:
          ready?.reason === READY_REASON.nodeUnreachable
            ? `Find out why the node is not reached, and how to proceed: stowage why volume ${name}`
            : ready?.reason === READY_REASON.nodeUnclear
              ? `Find out why the state of the node is unclear, and how to proceed: stowage why volume ${name}`
              : `${progressHint}, and retry once it is provisioned. Or mark it for deletion now, which completes later: kubectl delete volume ${name} --wait=false`,
      };
    }
    case 'Terminating':
      return { can: false, why: 'it is already being deleted', hint: `${progressHint}.` };
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
