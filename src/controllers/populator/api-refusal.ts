import { POPULATOR_EVENT } from '../../api/names.ts';
import { explain } from '../../api/reasons.ts';
import { isNotFound, isRefusal } from '../../kube/errors.ts';
import { clipped, type EventToSend } from '../lib/event.ts';
import type { WriteAction } from './actions.ts';

/**
 * Returns the event for an action that the API server refuses: by a quota, a policy, missing rights
 * or a missing namespace. Returns undefined for other errors. The action is retried, and the event
 * emitted once although the text about a quota changes. Pure.
 */
export function refusalOf(
  effect: WriteAction,
  error: unknown,
  namespace: string,
): EventToSend | undefined {
  const isCreation = effect.do === 'create-prime' || effect.do === 'create-pod';
  // NotFound for a creation means that the namespace is missing.
  if (!isRefusal(error) && !(isCreation && isNotFound(error))) return undefined;
  const reason =
    effect.do === 'create-prime' ? POPULATOR_EVENT.primeFailed : POPULATOR_EVENT.creationFailed;
  return { type: 'Warning', reason, ...explanationOf(effect, clipped(error.message), namespace) };
}

function explanationOf(effect: WriteAction, message: string, namespace: string) {
  switch (effect.do) {
    case 'create-prime':
      return explain('PrimeRefused', {
        claim: `${namespace}/${effect.prime.metadata.name}`,
        said: message,
      });
    case 'create-pod':
      return explain('PodRefused', {
        pod: `${namespace}/${effect.pod.metadata.name}`,
        said: message,
      });
    case 'rebind':
      return explain('RebindRefused', { volume: effect.pv.metadata.name, said: message });
    default:
      return explain('PopulationStepRefused', { step: effect.do, said: message });
  }
}
