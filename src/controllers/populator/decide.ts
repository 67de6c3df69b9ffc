import type { PersistentVolumeClaim } from '../../api/core.ts';
import {
  NO_PROVISIONER,
  POPULATED_BY_ANNOTATION,
  POPULATED_FROM_ANNOTATION,
  POPULATOR_EVENT,
  SELECTED_NODE_ANNOTATION,
} from '../../api/names.ts';
import { kindText, type PopulatorDefinition } from '../../api/populator.ts';
import { type Explanation, explain, reason } from '../../api/reasons.ts';
import { sourceReference } from '../../model/data-source/reference.ts';
import { problemOf } from '../../model/populator-definition.ts';
import type { EventToSend } from '../lib/event.ts';
import { beforePod } from './before-pod.ts';
import { cleanUp, finish, hasFinalizer, isBegun } from './clean-up.ts';
import { emit } from './emit-event.ts';
import { targetOf } from './objects.ts';
import { onNode } from './on-node.ts';
import { podOutcome } from './pod-outcome.ts';
import { hasFilled } from './pod-state.ts';
import type { PopulatorDecision, PopulatorInput } from './types.ts';

/** Delay (ms) before another decision while the cache is stale. */
const SOON = 1000;

/** Decides about the filling of one claim by a pod. Pure. `now` is in ms since the epoch. */
export function decide(input: PopulatorInput, now: number): PopulatorDecision {
  const { claim, prime, pod, pv, uid } = input;
  if (claim === undefined) return withoutClaim(input);
  if (claim.metadata.deletionTimestamp !== undefined) return isBegun(input) ? cleanUp(input) : {};
  const isRebound =
    pv !== undefined &&
    pv.spec.claimRef?.uid === uid &&
    pv.metadata.annotations?.[POPULATED_FROM_ANNOTATION] !== undefined;
  if (claim.spec.volumeName) {
    if (!isBegun(input)) return {};
    return isRebound ? finish(input) : cleanUp(input, bypassed(input, claim));
  }
  // The binder completes the binding.
  if (isRebound) return {};
  for (const [kind, object] of [
    ['PersistentVolumeClaim', prime],
    ['Pod', pod],
  ] as const) {
    if (object !== undefined && targetOf(object) === undefined) {
      const taken = { kind, object: `${input.namespace}/${object.metadata.name}` };
      const why = explain('PopulationNameTaken', taken);
      return emit(input, 'Warning', POPULATOR_EVENT.primeFailed, why);
    }
  }
  // This works without the definition, too.
  if (prime !== undefined && isUsable(prime)) {
    if (prime.metadata.annotations?.[POPULATED_BY_ANNOTATION] !== undefined)
      return rebindVolume(input);
    if (pod !== undefined && hasFilled(pod)) return { action: { do: 'mark-populated', pod } };
  }
  const found = definitionOf(input);
  if ('decision' in found) return found.decision;
  return fill(input, found.definition, now);
}

/**
 * Returns the event for a claim that its class's provisioner bound to another volume meanwhile, an
 * empty one.
 */
function bypassed(
  { pv, uid }: PopulatorInput,
  { spec, metadata }: PersistentVolumeClaim,
): EventToSend | undefined {
  if (pv === undefined || pv.spec.claimRef?.uid !== uid || pv.metadata.name !== spec.volumeName)
    return undefined;
  const { kind, name } = spec.dataSourceRef ?? spec.dataSource ?? {};
  const ignored = explain('SourceIgnored', {
    volume: pv.metadata.name,
    ...{ kind: `${kind}`, source: `${name}`, class: `${spec.storageClassName}` },
    claim: metadata.name,
  });
  return { type: 'Warning', reason: POPULATOR_EVENT.creationFailed, ...ignored };
}

/** Decides about a claim that the cache lacks: a live read precedes any cleanup. */
function withoutClaim(input: PopulatorInput): PopulatorDecision {
  const { prime, pod, liveClaim, uid } = input;
  const target = (prime && targetOf(prime)) ?? (pod && targetOf(pod));
  if (target === undefined) return {};
  if (liveClaim === undefined) return { action: { do: 'read-claim', ...target } };
  return liveClaim.found?.metadata.uid === uid ? { requeueAfter: SOON } : cleanUp(input);
}

/**
 * Returns the definition for the kind of the claim's data source. Ignores kinds that only a
 * VolumePopulator names: another controller fills those.
 */
function definitionOf(
  input: PopulatorInput,
): { definition: PopulatorDefinition } | { decision: PopulatorDecision } {
  const { definitions, claim } = input;
  const [definition, ...others] = definitions;
  const kind = claim && sourceReference(claim);
  const what = kind === undefined ? '' : kindText(kind);
  const refused = (why: Explanation) => ({
    decision: emit(input, 'Warning', POPULATOR_EVENT.creationFailed, why),
  });
  if (definition === undefined) {
    if (!isBegun(input)) return { decision: {} };
    return refused(explain('DefinitionMissing', { kind: what }));
  }
  const { name } = definition.metadata;
  if (others.length > 0) {
    const names = definitions.map(({ metadata }) => metadata.name).join(', ');
    return refused(explain('DefinitionsCompete', { kind: what, definitions: names }));
  }
  const problem = problemOf(definition);
  if (problem === undefined && definition.spec.node !== undefined) {
    return { decision: onNode(input, definition) };
  }
  if (problem === undefined) return { definition };
  const detail = reason('DefinitionInvalid', { definition: name });
  return refused({ message: `PopulatorDefinition ${name}: ${problem}`, detail });
}

function fill(
  input: PopulatorInput,
  definition: PopulatorDefinition,
  now: number,
): PopulatorDecision {
  const { claim, prime, pod, storageClass } = input;
  if (claim === undefined) return {};
  const stuck = classProblem(input);
  if (stuck !== undefined) return emit(input, 'Warning', POPULATOR_EVENT.primeFailed, stuck);
  const waits = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
  const wanted = claim.metadata.annotations?.[SELECTED_NODE_ANNOTATION];
  if (prime === undefined) {
    // A pod cannot continue without its prime claim.
    if (pod !== undefined) return withoutFinalizer(cleanUp(input));
    if (waits && wanted === undefined) return {};
    return beforePod(input, definition, now);
  }
  if (prime.metadata.deletionTimestamp !== undefined) return withoutFinalizer(cleanUp(input));
  // The PersistentVolume of the prime claim is gone with its data; a cache that has it is stale.
  if (prime.status?.phase === 'Lost') {
    return input.pv === undefined ? withoutFinalizer(cleanUp(input)) : { requeueAfter: SOON };
  }
  if (waits && !prime.spec.volumeName) {
    const chosen = prime.metadata.annotations?.[SELECTED_NODE_ANNOTATION];
    if (wanted !== undefined && chosen === undefined) {
      const back = { node: wanted, class: `${claim.spec.storageClassName}` };
      const why = explain('NodeGivenBack', back);
      const event = { type: 'Warning', reason: POPULATOR_EVENT.primeFailed, ...why } as const;
      return { action: { do: 'give-back', event } };
    }
    if (wanted !== chosen || chosen === undefined) return withoutFinalizer(cleanUp(input));
  }
  return pod === undefined ? beforePod(input, definition, now) : podOutcome(input, definition, now);
}

const isUsable = ({ metadata, status }: PersistentVolumeClaim): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase === 'Bound';

/** Keeps the finalizer: the claim is filled again. */
function withoutFinalizer(decision: PopulatorDecision): PopulatorDecision {
  return decision.action?.do === 'remove-finalizer' ? {} : decision;
}

function classProblem({ claim, storageClass, prime }: PopulatorInput): Explanation | undefined {
  const name = claim?.spec.storageClassName;
  // An existing prime claim does not need the class any more.
  if (prime !== undefined) return undefined;
  if (!name) return explain('PopulatedClassNotNamed');
  if (storageClass === undefined) return explain('PopulatedClassMissing', { class: name });
  return storageClass.provisioner === NO_PROVISIONER
    ? explain('PopulatedClassStatic', { class: name })
    : undefined;
}

/** Deletes the pod of a filled volume; once the pod is gone, binds the volume to the claim. */
function rebindVolume(input: PopulatorInput): PopulatorDecision {
  const { claim, prime, pod, pv } = input;
  if (claim === undefined || prime === undefined) return {};
  if (pod !== undefined) {
    return pod.metadata.deletionTimestamp === undefined
      ? { action: { do: 'delete-pod', pod } }
      : {};
  }
  const source = sourceReference(claim);
  if (pv === undefined || source === undefined || pv.spec.claimRef?.uid !== prime.metadata.uid)
    return {};
  // Without the finalizer, the claim could disappear before its prime claim.
  if (!hasFinalizer(input)) return { action: { do: 'add-finalizer' } };
  return { action: { do: 'rebind', pv, from: `${source.namespace}/${source.name}` } };
}
