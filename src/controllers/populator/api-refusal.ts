import { POPULATOR_EVENT } from '../../api/names.ts';
import { explain } from '../../api/reasons.ts';
import { isNotFound, isRefusal } from '../../kube/errors.ts';
import { clipped, type EventToSend } from '../lib/event.ts';
import type { WriteAction } from './actions.ts';

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
  return { type: 'Warning', reason, ...explanationOf(effect, clipped(error.message), namespace) };
}

function explanationOf(effect: WriteAction, said: string, namespace: string) {
  switch (effect.do) {
    case 'create-prime':
      return explain('PrimeRefused', { claim: `${namespace}/${effect.prime.metadata.name}`, said });
    case 'create-pod':
      return explain('PodRefused', { pod: `${namespace}/${effect.pod.metadata.name}`, said });
    case 'rebind':
      return explain('RebindRefused', { volume: effect.pv.metadata.name, said });
    default:
      return explain('PopulationStepRefused', { step: effect.do, said });
  }
}
