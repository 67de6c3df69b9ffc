import type { PersistentVolumeClaim } from '../../api/core.ts';
import { POPULATE_FINALIZER, POPULATOR_EVENT } from '../../api/names.ts';
import { explain } from '../../api/reasons.ts';
import type { EventToSend } from '../lib/event.ts';
import { targetOf } from './objects.ts';
import type { PopulatorDecision, PopulatorInput } from './types.ts';

export const hasFinalizer = ({ claim }: Pick<PopulatorInput, 'claim'>): boolean =>
  claim?.metadata.finalizers?.includes(POPULATE_FINALIZER) ?? false;

/** Reports whether the controller has started anything for the claim. */
export const isBegun = (input: PopulatorInput): boolean =>
  input.prime !== undefined || input.pod !== undefined || hasFinalizer(input);

/**
 * Deletes everything that was created to fill a claim: first the pod, which writes, and the
 * finalizer last. The PersistentVolume goes with the prime claim, unless it already belongs to the
 * claim. `finished`: event to emit before the last step. Pure.
 */
export function cleanUp(input: PopulatorInput, finished?: EventToSend): PopulatorDecision {
  const { claim, uid, prime, pod, pv } = input;
  if (pod !== undefined && targetOf(pod) !== undefined) {
    return pod.metadata.deletionTimestamp === undefined
      ? { action: { do: 'delete-pod', pod } }
      : {};
  }
  if (prime !== undefined && targetOf(prime) !== undefined) {
    if (pv?.spec.persistentVolumeReclaimPolicy === 'Retain' && isUnseen(input, prime)) {
      return { action: { do: 'release-pv', pv } };
    }
    return prime.metadata.deletionTimestamp === undefined
      ? { action: { do: 'delete-prime', prime } }
      : {};
  }
  if (claim?.metadata.uid !== uid || !hasFinalizer(input)) return {};
  return { action: { do: 'remove-finalizer', ...(finished && { finished }) } };
}

/** Reports whether only the pod that filled the prime claim's PersistentVolume can have used it. */
function isUnseen({ pv, claim, uid }: PopulatorInput, prime: PersistentVolumeClaim): boolean {
  const holder = pv?.spec.claimRef?.uid;
  if (holder === undefined) return false;
  // The PersistentVolume was rebound to a claim that was deleted before it was bound.
  return (
    holder === prime.metadata.uid ||
    (holder === uid && claim !== undefined && !claim.spec.volumeName)
  );
}

/**
 * Cleans up once the claim has its volume and the binder has marked the prime claim as Lost. Pure.
 */
export function finish(input: PopulatorInput): PopulatorDecision {
  const { claim, prime } = input;
  if (claim?.status?.phase === 'Lost') return cleanUp(input);
  if (claim?.status?.phase !== 'Bound') return {};
  const isLost = prime === undefined || prime.status?.phase === 'Lost';
  if (!isLost && prime.metadata.deletionTimestamp === undefined) return {};
  const filled = explain('VolumeFilled', { volume: `${claim.spec.volumeName}` });
  return cleanUp(input, { type: 'Normal', reason: POPULATOR_EVENT.finished, ...filled });
}
