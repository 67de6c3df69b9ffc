import type { PersistentVolume } from '../../../api/core.ts';
import { phaseOf } from '../../../api/phase.ts';
import type { Volume } from '../../../api/volume.ts';
import { isPvOf } from '../../../model/persistent-volume.ts';
import { statusProblem } from '../../../model/status-problem.ts';
import { validateVolume } from '../../../model/validate-volume.ts';

/** Decision about a Volume that may be MetalK8s's. */
export type MigrationState =
  | { is: 'to adopt'; pv: PersistentVolume }
  /** Nothing to adopt. */
  | { is: 'left'; why: string }
  | { is: 'refused'; why: string; hint: string };

/** Number of a Salt job that changes the node; `DONE` is none. Queries of size or name are not. */
const AT_WORK = /^(PrepareVolume|UnprepareVolume)\/(?!DONE$)./;

/**
 * Returns the decision about a Volume. Pure.
 * @param pv PersistentVolume with the Volume's name
 */
export function migrationStateOf(volume: Volume, pv: PersistentVolume | undefined): MigrationState {
  const { metadata, status } = volume;
  const refused = (why: string, hint: string): MigrationState => ({ is: 'refused', why, hint });
  if (status?.prepared !== undefined) return { is: 'left', why: "it is Stowage's" };
  if (metadata.deletionTimestamp !== undefined) {
    return refused(
      'it is being deleted',
      'Wait until MetalK8s has deleted it, then take over again.',
    );
  }
  if (AT_WORK.test(status?.job ?? '')) {
    return refused(
      `its job ${status?.job} may be running`,
      "Wait until it has ended, then take over again. MetalK8s's operator, which must be running, records the end.",
    );
  }
  if (pv === undefined && phaseOf(volume) !== 'Available') {
    return {
      is: 'left',
      why: `it is ${phaseOf(volume) ?? 'new'} and not provisioned yet; Stowage provisions it, or reports why it cannot`,
    };
  }
  const problem = statusProblem(volume) ?? validateVolume(volume)[0];
  if (problem !== undefined)
    return refused(problem, 'If it is not needed, delete it with MetalK8s.');
  if (pv === undefined) {
    return refused(
      'it has no PersistentVolume',
      'Wait until MetalK8s has created it, then take over again.',
    );
  }
  if (!isPvOf(pv, volume)) {
    return refused(
      `the PersistentVolume ${pv.metadata.name} is not its own`,
      `Check its ownerReferences: kubectl get pv ${pv.metadata.name} -o yaml`,
    );
  }
  if (pv.metadata.deletionTimestamp !== undefined) {
    return refused(
      `its PersistentVolume is being deleted`,
      'Delete the Volume, too, wait until MetalK8s has removed both, then take over again.',
    );
  }
  return { is: 'to adopt', pv };
}
