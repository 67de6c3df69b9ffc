import type { KubeNode } from '../../api/core.ts';
import type { KubeObject } from '../../api/meta.ts';
import { PAUSED_ANNOTATION, PAUSED_REASON } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import type { Condition } from '../../api/volume.ts';
import { RETRY } from '../../model/retry.ts';
import { withCondition } from './status.ts';
import type { Action, Decision, Input } from './types.ts';

/** Which of the two says so, by kind and name; undefined when neither does. */
export function pausedBy(object: KubeObject, node: KubeNode | undefined): string | undefined {
  if (isPaused(object)) return `${object.kind} ${object.metadata.name}`;
  return node !== undefined && isPaused(node) ? `Node ${node.metadata.name}` : undefined;
}

/**
 * A decision that writes nothing while that is asked for, and the condition Paused that says so. Ready and
 * observedGeneration stay: what the decision would have done is still to be done when the annotation is gone.
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

/** The condition as it should be; undefined when it is so. A Volume that never was paused has none. */
function pausedCondition({ volume, paused }: Input, now: number): Condition | undefined {
  const old = volume.status?.conditions?.find(({ type }) => type === 'Paused');
  const waits = volume.metadata.deletionTimestamp === undefined ? '' : '; its deletion waits, too';
  const wanted =
    paused === undefined
      ? { status: 'False' as const, reason: PAUSED_REASON.resumed, message: '' }
      : {
          status: 'True' as const,
          reason: PAUSED_REASON.paused,
          message: `the annotation ${PAUSED_ANNOTATION} of ${paused} keeps all work from being done${waits}`,
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
 * What is found on a node is told as ever. A job is neither named, for it could not be submitted, nor called done, for
 * it could not be removed. The finalizer only keeps what is there from being lost.
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
