import { POPULATOR_EVENT } from '../../api/names.ts';
import { isNotFound, isRefusal } from '../../kube/errors.ts';
import type { WriteAction } from './actions.ts';
import type { EventToSend } from './types.ts';

/**
 * What is to be told of an effect that the API server will not have: for a quota, a policy, a right, or a namespace that is gone.
 * Undefined where it has said something else. It is tried again, and told once, though what it says of a quota changes. Pure.
 */
export function refusalOf(
  effect: WriteAction,
  error: unknown,
  namespace: string,
): EventToSend | undefined {
  const isCreation = effect.do === 'create-prime' || effect.do === 'create-pod';
  // What is to be created cannot be missing: its namespace is.
  if (!isRefusal(error) && !(isCreation && isNotFound(error))) return undefined;
  const reason =
    effect.do === 'create-prime' ? POPULATOR_EVENT.primeFailed : POPULATOR_EVENT.creationFailed;
  const message = `${wordsOf(effect, namespace)} is refused: ${error.message}. It is tried again`;
  return { type: 'Warning', reason, message, about: `${effect.do} refused` };
}

function wordsOf(effect: WriteAction, namespace: string): string {
  switch (effect.do) {
    case 'create-prime':
      return `claim ${namespace}/${effect.prime.metadata.name}, which is to be filled for this one,`;
    case 'create-pod':
      return `pod ${namespace}/${effect.pod.metadata.name}, which is to fill the volume,`;
    case 'rebind':
      return `to give PersistentVolume ${effect.pv.metadata.name} to the claim`;
    default:
      return `what comes next for it (${effect.do})`;
  }
}
