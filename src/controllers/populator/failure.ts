import { POPULATOR_EVENT } from '../../api/names.ts';
import type { PopulatorDefinition } from '../../api/populator.ts';
import { explain } from '../../api/reasons.ts';
import { RETRY } from '../../model/retry.ts';
import { withHint } from '../../nodes/job-text.ts';
import { clipped } from '../lib/event.ts';
import { attemptsOf, originOf } from './attempts.ts';
import { podNameOf } from './objects.ts';
import type { PopulatorDecision, PopulatorInput, SourceFound } from './types.ts';

/** Origin of a failed pod whose source is not available. */
const UNKNOWN_ORIGIN = '';

/**
 * Counts a failed pod before it is deleted, so that it counts once. `why` has no final period.
 * Pure.
 */
export function noteFailure(
  { prime, namespace, uid }: PopulatorInput,
  source: SourceFound,
  definition: PopulatorDefinition,
  pod: string,
  why: string,
  now: number,
): PopulatorDecision {
  const before = attemptsOf(prime);
  const of = source.is === 'ready' ? originOf(definition, source.object) : UNKNOWN_ORIGIN;
  const failed = before?.of === of ? before.failed + 1 : 1;
  const again = failed < RETRY.maxTransfers ? 'Stowage retries' : 'Stowage does not retry';
  const { message, detail } = explain('PodFailed', {
    pod: `${namespace}/${podNameOf(uid)}`,
    failed,
    max: RETRY.maxTransfers,
    said: clipped(why),
  });
  const explanation = { message: withHint(message, again), detail };
  return {
    action: {
      do: 'note-attempts',
      attempts: { failed, pod, message: why, at: now, of },
      event: { type: 'Warning', reason: POPULATOR_EVENT.failed, ...explanation },
    },
  };
}

/**
 * Replaces a pod that has not started by one from the present definition, source and tolerations,
 * without counting a failure. Failures of the same origin stay counted: tenants change tolerations,
 * and could otherwise start any number of pods that fail. Pure.
 */
export function noteOutdated(
  { prime, namespace, uid }: PopulatorInput,
  of: string,
  pod: string,
  now: number,
): PopulatorDecision {
  const before = attemptsOf(prime);
  const { failed, message, at } = before?.of === of ? before : { failed: 0, message: '', at: now };
  const outdated = explain('PodOutdated', { pod: `${namespace}/${podNameOf(uid)}` });
  return {
    action: {
      do: 'note-attempts',
      attempts: { failed, pod, message, at, of },
      event: { type: 'Normal', reason: POPULATOR_EVENT.created, ...outdated },
    },
  };
}
