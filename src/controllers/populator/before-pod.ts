import type { PersistentVolumeClaim, Pod } from '../../api/core.ts';
import { POPULATOR_EVENT } from '../../api/names.ts';
import type { PopulatorDefinition } from '../../api/populator.ts';
import { RETRY } from '../../model/retry.ts';
import { SubstitutionError } from '../../model/substitute.ts';
import { attemptsOf, nextAttempt, originOf } from './attempts.ts';
import { hasFinalizer } from './clean-up.ts';
import { emit, emitEvent } from './emit-event.ts';
import { noteFailure } from './failure.ts';
import { podOf, primeOf } from './objects.ts';
import type { Attempts, MachineDecision, MachineInput } from './types.ts';

/** So many pods fill volumes at once. Of these a namespace takes one only if more are free than it has, so that others always find one. */
export const MAX_RUNNING = 16;

/** The next thing that is missing before a pod fills the claim: its source, who protects it, the prime claim, room. Pure. */
export function beforePod(
  input: MachineInput,
  definition: PopulatorDefinition,
  now: number,
): MachineDecision {
  const { claim, prime, source, namespace } = input;
  if (claim === undefined) return {};
  if (prime !== undefined && prime.status?.phase !== 'Bound') return whileUnbound(input, prime);
  if (source === undefined) return { action: { do: 'resolve-source', definition } };
  if (source.is === 'waits')
    return emitEvent(input, source.event, { requeueAfter: RETRY.rereadSource });
  let pod: Pod;
  try {
    pod = podOf(claim, definition, source.object, namespace);
  } catch (error) {
    if (!(error instanceof SubstitutionError)) throw error;
    const { kind, metadata } = source.object;
    const message = `${kind} ${metadata.name} cannot be used by PopulatorDefinition ${definition.metadata.name}: ${error.message}`;
    return emit(input, 'Warning', POPULATOR_EVENT.creationFailed, message);
  }
  if (!hasFinalizer(input)) return { action: { do: 'add-finalizer' } };
  if (prime === undefined)
    return { action: { do: 'create-prime', prime: primeOf(claim, namespace) } };
  const attempts = attemptsOf(prime);
  // Somebody made short work of it: nothing is known of its end.
  if (input.vanished !== undefined && attempts?.pod !== input.vanished) {
    return noteFailure(
      input,
      source,
      definition,
      input.vanished,
      'it was deleted before it had ended',
      now,
    );
  }
  const due = nextAttempt(attempts, originOf(definition, source.object));
  if (due === undefined) return emit(input, 'Warning', POPULATOR_EVENT.failed, gaveUp(attempts));
  if (due > now) return { requeueAfter: due - now };
  const { all, own } = input.running;
  if (MAX_RUNNING - all <= own) {
    const message =
      all >= MAX_RUNNING
        ? `${MAX_RUNNING} pods fill volumes already: the claim waits for one of them to end`
        : `${own} pods fill volumes of this namespace already, which leaves the other places to others: the claim waits for one of them to end`;
    return emit(input, 'Normal', POPULATOR_EVENT.created, message, { requeueAfter: 10_000 });
  }
  const message = `pod ${namespace}/${pod.metadata.name} fills the volume`;
  return {
    action: {
      do: 'create-pod',
      pod,
      event: { type: 'Normal', reason: POPULATOR_EVENT.created, message },
    },
  };
}

/** Whoever makes volumes of the class says why there is none yet: of a claim that the user does not see. */
function whileUnbound(input: MachineInput, prime: PersistentVolumeClaim): MachineDecision {
  if (input.primeSays === undefined) return { action: { do: 'look-at-prime', prime } };
  const { found } = input.primeSays;
  const again = { requeueAfter: RETRY.recheckSoon };
  if (found === undefined) return again;
  const message = `no volume is made for claim ${input.namespace}/${prime.metadata.name} yet: ${found}`;
  return emit(input, 'Warning', POPULATOR_EVENT.primeFailed, message, again);
}

const gaveUp = (attempts: Attempts | undefined): string =>
  `${attempts?.failed} pods have failed, and no more are made before the data source or its PopulatorDefinition is changed. The last: ${attempts?.message}`;
