import { READY_REASON, STALLED } from '../../api/names.ts';
import type { Condition, Phase, Volume } from '../../api/volume.ts';
import type { Action } from './types.ts';

const RECOVERABLE: readonly (string | undefined)[] = [
  READY_REASON.unavailableError,
  READY_REASON.directoryNotMounted,
  READY_REASON.pathAstray,
  READY_REASON.adoptionRefused,
];

/**
 * Reports whether a Volume that is not ready for this reason recovers by itself. Otherwise it needs
 * a change of its spec.
 */
export const isRecoverable = (reason: string | undefined): boolean => RECOVERABLE.includes(reason);

/**
 * Returns the conditions with the condition Stalled if the Volume failed permanently, else without
 * it. kstatus, which Flux and kpt use, reports such objects as failed; without the condition, it
 * waits as long as Ready is False (cli-utils, pkg/kstatus/status/generic.go). Pure.
 */
export function withStalled(conditions: Condition[], phase: Phase | undefined): Condition[] {
  const ready = conditions.find(({ type }) => type === 'Ready');
  const isStalled =
    phase === 'Failed' &&
    ready?.status === 'False' &&
    !isRecoverable(ready.reason) &&
    // A deletion is retried.
    ready.reason !== READY_REASON.destructionError;
  const old = conditions.find(({ type }) => type === STALLED);
  if (!isStalled) {
    return old === undefined ? conditions : conditions.filter(({ type }) => type !== STALLED);
  }
  const { detail: _, ...reported } = ready;
  const condition = {
    ...reported,
    type: STALLED,
    status: 'True' as const,
    // Ready may have been False before.
    ...(old?.lastTransitionTime && { lastTransitionTime: old.lastTransitionTime }),
  };
  return old === undefined
    ? [...conditions, condition]
    : conditions.map((other) => (other === old ? condition : other));
}

/**
 * Returns the action that adds the condition Stalled to a Volume that failed permanently under a
 * daemon of an earlier version, since no other decision writes its status again. Returns undefined
 * if nothing is missing. Pure.
 */
export function addStalled({ status }: Volume): Action | undefined {
  const before = status?.conditions ?? [];
  if (before.some(({ type }) => type === STALLED)) return undefined;
  const conditions = withStalled(before, status?.phase);
  return conditions === before
    ? undefined
    : { do: 'set-status', status: { ...status, conditions } };
}
