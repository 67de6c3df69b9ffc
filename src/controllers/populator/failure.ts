import { POPULATOR_EVENT } from '../../api/names.ts';
import type { PopulatorDefinition } from '../../api/populator.ts';
import { explain } from '../../api/reasons.ts';
import { RETRY } from '../../model/retry.ts';
import { clipped } from '../lib/event.ts';
import { attemptsOf, originOf } from './attempts.ts';
import { podNameOf } from './objects.ts';
import type { MachineDecision, MachineInput, SourceFound } from './types.ts';

/** Of a definition that is gone, or a source that was not read, when a pod was found to have failed. */
const UNKNOWN_ORIGIN = '';

/** A pod that failed is counted before it goes, so that it counts once. `why`: without an end. Pure. */
export function noteFailure(
  { prime, namespace, uid }: MachineInput,
  source: SourceFound,
  definition: PopulatorDefinition,
  pod: string,
  why: string,
  now: number,
): MachineDecision {
  const before = attemptsOf(prime);
  const of = source.is === 'ready' ? originOf(definition, source.object) : UNKNOWN_ORIGIN;
  const failed = before?.of === of ? before.failed + 1 : 1;
  const again = failed < RETRY.maxTransfers ? 'It is tried again' : 'It is not tried again';
  const { message, detail } = explain('PodFailed', {
    pod: `${namespace}/${podNameOf(uid)}`,
    failed,
    max: RETRY.maxTransfers,
    said: clipped(why),
  });
  const told = { message: `${message}. ${again}`, detail };
  return {
    action: {
      do: 'note-attempts',
      attempts: { failed, pod, message: why, at: now, of },
      event: { type: 'Warning', reason: POPULATOR_EVENT.failed, ...told },
    },
  };
}

/** A pod that has not begun goes, for another one is to be made from what there is by now: that is no failure. Pure. */
export function noteOutdated(
  { namespace, uid }: MachineInput,
  of: string,
  pod: string,
  now: number,
): MachineDecision {
  const outdated = explain('PodOutdated', { pod: `${namespace}/${podNameOf(uid)}` });
  return {
    action: {
      do: 'note-attempts',
      attempts: { failed: 0, pod, message: '', at: now, of },
      event: { type: 'Normal', reason: POPULATOR_EVENT.created, ...outdated },
    },
  };
}
