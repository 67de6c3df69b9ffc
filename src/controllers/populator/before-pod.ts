import type { PersistentVolumeClaim, Pod } from '../../api/core.ts';
import { POPULATOR_EVENT } from '../../api/names.ts';
import type { PopulatorDefinition } from '../../api/populator.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { RETRY } from '../../model/retry.ts';
import { SubstitutionError } from '../../model/substitute.ts';
import { clipped } from '../lib/event.ts';
import { attemptsOf, nextAttempt, originOf } from './attempts.ts';
import { hasFinalizer } from './clean-up.ts';
import { emit, emitEvent } from './emit-event.ts';
import { noteFailure } from './failure.ts';
import { podOf, primeOf } from './objects.ts';
import type { Attempts, PopulatorDecision, PopulatorInput } from './types.ts';

/**
 * Maximum number of pods that fill volumes at once. A namespace gets another one only if more are
 * free than it has, so that other namespaces always find one.
 */
export const MAX_RUNNING = 16;

/**
 * Decides the next step before a pod fills the claim: source, finalizer, prime claim, free place.
 * Pure.
 */
export function beforePod(
  input: PopulatorInput,
  definition: PopulatorDefinition,
  now: number,
): PopulatorDecision {
  const { claim, prime, source, namespace } = input;
  if (claim === undefined) return {};
  if (prime !== undefined && prime.status?.phase !== 'Bound') return whileUnbound(input, prime);
  if (source === undefined) return { action: { do: 'resolve-source', definition } };
  if (source.is === 'waits')
    return emitEvent(input, source.event, { requeueAfter: RETRY.rereadSource });
  let pod: Pod;
  try {
    pod = podOf(claim, definition, source.object, input);
  } catch (error) {
    if (!(error instanceof SubstitutionError)) throw error;
    const { kind, metadata } = source.object;
    const its = { kind, source: metadata.name, definition: definition.metadata.name };
    const { message, detail } = explain('FieldUnusable', its);
    const why = { message: `${message}: ${error.message}`, detail };
    return emit(input, 'Warning', POPULATOR_EVENT.creationFailed, why);
  }
  if (!hasFinalizer(input)) return { action: { do: 'add-finalizer' } };
  if (prime === undefined)
    return { action: { do: 'create-prime', prime: primeOf(claim, namespace) } };
  const attempts = attemptsOf(prime);
  // The pod was deleted before its end was observed.
  if (input.vanished !== undefined && attempts?.pod !== input.vanished) {
    return noteFailure(
      input,
      source,
      definition,
      input.vanished,
      'it was deleted before it ended',
      now,
    );
  }
  const due = nextAttempt(attempts, originOf(definition, source.object));
  if (due === undefined) return emit(input, 'Warning', POPULATOR_EVENT.failed, gaveUp(attempts));
  // A record in the future is by a clock that was set back, or another machine's.
  if (due > now && (attempts?.at ?? 0) <= now) return { requeueAfter: due - now };
  const { all, own } = input.running;
  if (MAX_RUNNING - all <= own) {
    const taken =
      all >= MAX_RUNNING
        ? explain('PlacesTaken', { max: MAX_RUNNING })
        : explain('NamespacePlacesTaken', { own });
    return emit(input, 'Normal', POPULATOR_EVENT.created, taken, { requeueAfter: 10_000 });
  }
  const created = explain('PodCreated', { pod: `${namespace}/${pod.metadata.name}` });
  return {
    action: {
      do: 'create-pod',
      pod,
      event: { type: 'Normal', reason: POPULATOR_EVENT.created, ...created },
    },
  };
}

/** Passes on the provisioner's warning about the prime claim, which the user does not see. */
function whileUnbound(input: PopulatorInput, prime: PersistentVolumeClaim): PopulatorDecision {
  if (input.primeWarning === undefined) return { action: { do: 'read-prime-events', prime } };
  const { found } = input.primeWarning;
  const again = { requeueAfter: RETRY.recheckSoon };
  if (found === undefined) return again;
  const { message, detail } = explain('PrimeUnbound', {
    claim: `${input.namespace}/${prime.metadata.name}`,
    said: clipped(found.message),
  });
  const why = { message, detail: found.detail ?? detail };
  return emit(input, 'Warning', POPULATOR_EVENT.primeFailed, why, again);
}

const gaveUp = (attempts: Attempts | undefined): Explanation =>
  explain('PodsGivenUp', {
    failed: `${attempts?.failed}`,
    said: clipped(`${attempts?.message}`),
  });
