import type { Pod } from '../../api/core.ts';
import { POPULATE_ORIGIN_ANNOTATION, POPULATOR_EVENT } from '../../api/names.ts';
import type { PopulatorDefinition } from '../../api/populator.ts';
import { explain } from '../../api/reasons.ts';
import { clipped } from '../lib/event.ts';
import { attemptsOf, originOf } from './attempts.ts';
import { emit, emitEvent } from './emit-event.ts';
import { noteFailure, noteOutdated } from './failure.ts';
import { toleratesOthers } from './objects.ts';
import {
  hasFilled,
  howDeleted,
  isUnscheduled,
  lastWords,
  standstillText,
  whyNotRunning,
} from './pod-state.ts';
import type { PopulatorDecision, PopulatorInput } from './types.ts';

/**
 * Time (ms) after which a pod that has a node but does not start counts as failed: it occupies one
 * of few places. A pod without a node occupies none, and waits as long as the node is away.
 */
const BEGINS_WITHIN = 600_000;

/**
 * Time (ms) after which the events of a pod that has not started are read: its status does not
 * report a volume that cannot be mounted.
 */
const READ_EVENTS_AFTER = 30_000;

/** Decides by the state of the pod. Pure. */
export function podOutcome(
  input: PopulatorInput,
  definition: PopulatorDefinition,
  now: number,
): PopulatorDecision {
  const { prime, pod, source, namespace } = input;
  if (prime === undefined || pod === undefined) return {};
  if (hasFilled(pod)) return { action: { do: 'mark-populated', pod } };
  const { uid = '', name, deletionTimestamp } = pod.metadata;
  const phase = pod.status?.phase ?? 'Pending';
  const isGoing = deletionTimestamp !== undefined;
  if (attemptsOf(prime)?.pod === uid) return isGoing ? {} : { action: { do: 'delete-pod', pod } };
  if (isGoing || phase === 'Failed') {
    if (source === undefined) return { action: { do: 'resolve-source', definition } };
    const why = isGoing ? howDeleted(pod) : lastWords(pod);
    return noteFailure(input, source, definition, uid, why, now);
  }
  if (phase === 'Pending') return beforeItBegins(input, definition, pod, now);
  // Supersede the last warning.
  if (input.lastEvent?.reason !== POPULATOR_EVENT.creationFailed) return {};
  const runs = explain('PodRunning', { pod: `${namespace}/${name}` });
  return emit(input, 'Normal', POPULATOR_EVENT.created, runs);
}

function beforeItBegins(
  input: PopulatorInput,
  definition: PopulatorDefinition,
  pod: Pod,
  now: number,
): PopulatorDecision {
  const { source, podWarning } = input;
  const { uid = '', name, creationTimestamp, annotations } = pod.metadata;
  const age = now - (input.podSeenAt ?? Date.parse(creationTimestamp ?? '')) || 0;
  const known = whyNotRunning(pod);
  if (known === undefined && podWarning === undefined) {
    return age < READ_EVENTS_AFTER
      ? { requeueAfter: READ_EVENTS_AFTER - age }
      : { action: { do: 'read-pod-events', pod } };
  }
  const stands = known ?? podWarning?.found;
  if (stands === undefined) return { requeueAfter: READ_EVENTS_AFTER };
  if (source === undefined) return { action: { do: 'resolve-source', definition } };
  if (source.is === 'ready') {
    const origin = originOf(definition, source.object);
    const made = annotations?.[POPULATE_ORIGIN_ANNOTATION];
    const isOutdated = made !== undefined && made !== origin;
    if (isOutdated || (isUnscheduled(pod) && toleratesOthers(pod, input.tolerations)))
      return noteOutdated(input, origin, uid, now);
  }
  const hasNode = !isUnscheduled(pod);
  if (hasNode && age >= BEGINS_WITHIN) {
    const why = `it did not start within ${BEGINS_WITHIN / 60_000} minutes: ${standstillText(stands)}`;
    return noteFailure(input, source, definition, uid, why, now);
  }
  const event = {
    type: 'Warning',
    reason: POPULATOR_EVENT.creationFailed,
    ...explain(stands.code, {
      pod: `${input.namespace}/${name}`,
      state: stands.state,
      said: stands.message && clipped(stands.message),
    }),
    about: uid,
  } as const;
  return emitEvent(input, event, hasNode ? { requeueAfter: BEGINS_WITHIN - age } : {});
}
