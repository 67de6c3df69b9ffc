import { EVENT, READY_REASON, type ReadyReason } from '../api/names.ts';
import type { Condition, ConditionStatus, Phase, Volume, VolumeStatus } from '../api/volume.ts';
import type { Action } from './types.ts';

export interface Ready {
  status: ConditionStatus;
  reason: ReadyReason;
  message: string;
}

/** The condition Ready of a Volume. */
export function readyOf(volume: Volume): Condition | undefined {
  return volume.status?.conditions?.find((condition) => condition.type === 'Ready');
}

/**
 * The action that gives a Volume this Ready condition, its phase, and other fields of its status; undefined when it
 * has them already, so that deciding the same again writes nothing.
 */
export function setStatus(
  volume: Volume,
  now: number,
  phase: Phase | undefined,
  ready: Ready,
  fields: Partial<VolumeStatus> = {},
): Action | undefined {
  const before = volume.status ?? {};
  const old = readyOf(volume);
  const same = old?.status === ready.status && old.reason === ready.reason && old.message === ready.message;
  const at = new Date(now).toISOString();
  const condition: Condition = {
    type: 'Ready',
    ...ready,
    lastUpdateTime: at,
    lastTransitionTime: old?.status === ready.status ? (old.lastTransitionTime ?? at) : at,
  };
  const status: VolumeStatus = {
    ...before,
    ...fields,
    ...(phase === undefined ? {} : { phase }),
    conditions: [
      ...(before.conditions ?? []).filter((other) => other.type !== 'Ready'),
      same && old !== undefined ? old : condition,
    ],
    ...(volume.metadata.generation === undefined ? {} : { observedGeneration: volume.metadata.generation }),
  };
  if (JSON.stringify(sorted(status)) === JSON.stringify(sorted(before))) return undefined;
  const moved = phase !== before.phase && phase !== undefined;
  const told = old?.reason === ready.reason && old.message === ready.message;
  return {
    do: 'set-status',
    status,
    ...(moved || (ready.status !== 'True' && !told && ready.message !== '')
      ? { event: transitionEvent(before.phase, phase, ready) }
      : {}),
  };
}

function transitionEvent(from: Phase | undefined, to: Phase | undefined, ready: Ready) {
  const type =
    ready.status === 'False' || ready.reason === READY_REASON.nodeUnreachable ? 'Warning' : 'Normal';
  const text = ready.message === '' ? ready.reason : ready.message;
  return {
    type: type as 'Warning' | 'Normal',
    reason: EVENT.stateTransition,
    message: from === to || to === undefined ? text : `${from ?? 'Unknown'} → ${to}: ${text}`,
  };
}

/** The fields in one order, so that two statuses can be compared as text. */
function sorted(status: VolumeStatus): unknown {
  return Object.fromEntries(Object.entries(status).sort(([a], [b]) => (a < b ? -1 : 1)));
}
