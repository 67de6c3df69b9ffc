import type { KubeNode } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { PAUSED_REASON } from '../../api/names.ts';
import type { Condition } from '../../api/volume.ts';
import { type PausedObject, pausedObject, resumeCommand } from '../../model/pause.ts';
import { RETRY } from '../../model/retry.ts';
import { withCondition } from './status.ts';
import type { Action, Decision, Input } from './types.ts';

/** Returns which of both objects is paused; undefined if neither is. */
export const pausedBy = (
  object: KubeObject,
  node: KubeNode | undefined,
): PausedObject | undefined => pausedObject(object.kind, object) ?? pausedObject('Node', node);

/**
 * Wraps a decision so that it writes nothing during a pause, and sets the condition Paused. Ready
 * and observedGeneration stay, since the action is still due once the annotation is removed.
 */
export function unlessPaused(
  decide: (input: Input, now: number) => Decision,
): (input: Input, now: number) => Decision {
  return (input, now) => {
    const condition = pausedCondition(input, now);
    if (condition !== undefined) {
      const { status = {} } = input.volume;
      const conditions = withCondition(status.conditions, condition);
      return { action: { do: 'set-status', status: { ...status, conditions } } };
    }
    const decision = decide(input, now);
    const held =
      input.paused !== undefined &&
      decision.action !== undefined &&
      isWrite(decision.action, input);
    return held ? { requeueAfter: RETRY.recheck } : decision;
  };
}

/**
 * Returns the condition to write; undefined if it is up to date. A Volume that was never paused has
 * none.
 */
function pausedCondition({ volume, paused }: Input, now: number): Condition | undefined {
  const old = volume.status?.conditions?.find(({ type }) => type === 'Paused');
  const waits = volume.metadata.deletionTimestamp === undefined ? '' : ', and the deletion waits';
  const wanted =
    paused === undefined
      ? { status: 'False' as const, reason: PAUSED_REASON.resumed, message: '' }
      : {
          status: 'True' as const,
          reason: PAUSED_REASON.paused,
          message: `${paused.kind} ${paused.name} is paused${waits}. To resume it: ${resumeCommand(paused.kind, paused.name)}`,
        };
  const same =
    old === undefined
      ? paused === undefined
      : old.status === wanted.status && old.message === wanted.message;
  if (same) return undefined;
  const at = new Date(now).toISOString();
  const since = old?.status === wanted.status ? old.lastTransitionTime : undefined;
  return { type: 'Paused', ...wanted, lastUpdateTime: at, lastTransitionTime: since ?? at };
}

/**
 * Reports whether an action is a write that a pause prevents. Observations are still reported. A
 * job is neither named, since it could not be submitted, nor marked as done, since it could not be
 * removed. The finalizer only protects existing storage.
 */
function isWrite(action: Action, { volume }: Input): boolean {
  switch (action.do) {
    case 'observe':
    case 'read-class':
    case 'read-pv':
    case 'poll':
    case 'add-finalizer':
      return false;
    case 'set-status':
      return action.status.job !== volume.status?.job;
    default:
      return true;
  }
}
