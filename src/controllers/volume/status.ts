import { isDeepStrictEqual } from 'node:util';
import {
  EVENT,
  PROVISIONED,
  READY_REASON,
  RETRY_ANNOTATION,
  type ReadyReason,
} from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Condition, ConditionStatus, Phase, Volume, VolumeStatus } from '../../api/volume.ts';
import { keyOf } from '../lib/event-key.ts';
import { withStalled } from './stalled.ts';
import type { Action, EventToSend } from './types.ts';

export interface Ready {
  status: ConditionStatus;
  reason: ReadyReason;
  message: string;
  /** A more specific reason, if any. */
  detail?: Reason | undefined;
  /** Message for the owner of the claim, who may not administer nodes, if it differs. */
  publicMessage?: string | undefined;
}

/** Fields to write; undefined removes a field. */
export type StatusFields = { [Field in keyof VolumeStatus]?: VolumeStatus[Field] | undefined };

/** Returns the condition Ready of a Volume or Leftover. */
export function readyOf({ status }: Pick<Volume, 'status'>): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === 'Ready');
}

/**
 * Reports whether a user requested a retry of the state that the condition Ready reports. The next
 * write of the condition fulfills the request.
 */
export function isRetryRequested(volume: Volume): boolean {
  const token = volume.metadata.annotations?.[RETRY_ANNOTATION];
  return token !== undefined && token === readyOf(volume)?.lastUpdateTime;
}

/**
 * Returns the action that sets the Ready condition, the phase and other fields of a Volume's
 * status. Returns undefined if all are set already, so that the same decision writes nothing.
 */
export function setStatus(
  volume: Volume,
  now: number,
  phase: Phase | undefined,
  { publicMessage, detail, ...ready }: Ready,
  fields: StatusFields = {},
): Action | undefined {
  const before = withoutAttachments(volume.status);
  const old = readyOf(volume);
  const isReported =
    old?.status === ready.status &&
    old.reason === ready.reason &&
    (detail === undefined || old.detail === undefined
      ? old.message === ready.message
      : keyOf(old.detail) === keyOf(detail));
  const same =
    isReported &&
    old?.message === ready.message &&
    isDeepStrictEqual(old.detail, detail) &&
    // The same failure after a retry has another time, which ends the request.
    !isRetryRequested(volume);
  const at = new Date(now).toISOString();
  const condition: Condition = {
    type: 'Ready',
    ...ready,
    ...(detail && { detail }),
    lastUpdateTime: at,
    lastTransitionTime: old?.status === ready.status ? (old.lastTransitionTime ?? at) : at,
  };
  const status: VolumeStatus = {
    ...(defined({ ...before, ...fields }) as VolumeStatus),
    ...(phase === undefined ? {} : { phase }),
    conditions: withStalled(
      withProvisioned(
        withCondition(before.conditions, same && old !== undefined ? old : condition),
        publicMessage === undefined
          ? undefined
          : {
              ...condition,
              type: PROVISIONED,
              status: 'False',
              message: publicMessage,
              // Parameters name objects on nodes, which concern only administrators.
              ...(detail && { detail: { code: detail.code, parameters: {} } }),
              lastTransitionTime: at,
            },
      ),
      phase ?? before.phase,
    ),
    ...(volume.metadata.generation === undefined
      ? {}
      : { observedGeneration: volume.metadata.generation }),
  };
  if (JSON.stringify(sorted(status)) === JSON.stringify(sorted(before))) return undefined;
  const event = eventOf(volume, phase, { ...ready, detail }, isReported);
  return { do: 'set-status', status, ...(event === undefined ? {} : { event }) };
}

const defined = (fields: StatusFields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/**
 * Drops the attachments, which only the attachment controller writes: they are neither compared nor
 * written here.
 */
function withoutAttachments({ attachments: _, ...own }: VolumeStatus = {}): VolumeStatus {
  return own;
}

/**
 * Returns the merge patch from one status to another: removed fields are null. Attachments stay as
 * they are.
 */
export function statusPatch(before: VolumeStatus | undefined, status: VolumeStatus): object {
  const wanted = withoutAttachments(status);
  const removed = Object.keys(withoutAttachments(before)).filter(
    (field) => wanted[field as keyof VolumeStatus] === undefined,
  );
  return { ...wanted, ...Object.fromEntries(removed.map((field) => [field, null])) };
}

/** Replaces the condition of the same type, or adds it. */
export function withCondition(
  conditions: readonly Condition[] = [],
  condition: Condition,
): Condition[] {
  return conditions.some(({ type }) => type === condition.type)
    ? conditions.map((other) => (other.type === condition.type ? condition : other))
    : [...conditions, condition];
}

/** Sets or removes the condition for the owner of the claim. */
function withProvisioned(conditions: Condition[], condition: Condition | undefined): Condition[] {
  if (condition === undefined) return conditions.filter(({ type }) => type !== PROVISIONED);
  const old = conditions.find(({ type }) => type === PROVISIONED);
  const same = old?.message === condition.message && old?.reason === condition.reason;
  return same ? conditions : withCondition(conditions, condition);
}

/** Returns the event for a change of phase or a new problem. Steps of a job have none. */
function eventOf(
  { metadata, status: before }: Volume,
  to: Phase | undefined,
  ready: Ready,
  isReported: boolean,
): EventToSend | undefined {
  const from = before?.phase;
  const { status, reason, message, detail } = ready;
  const concern =
    status === 'False' ||
    reason === READY_REASON.nodeUnreachable ||
    reason === READY_REASON.nodeUnclear;
  const moved = to !== undefined && to !== from;
  if (!moved && (isReported || !concern)) return undefined;
  const text = message === '' ? reason : message;
  return {
    type: concern ? 'Warning' : 'Normal',
    reason: EVENT.stateTransition,
    message: moved ? changeText(metadata.name, from, to, text) : text,
    ...(detail && { detail }),
  };
}

/** Returns the message about a change of phase. A reason that equals the phase is not repeated. */
function changeText(name: string, from: Phase | undefined, to: Phase, text: string): string {
  const change = from === undefined ? `is ${to}` : `changed from ${from} to ${to}`;
  return `Volume ${name} ${change}${text === to ? '' : `: ${text}`}`;
}

/** Sorts the fields, so that statuses can be compared as text. */
function sorted(status: VolumeStatus): unknown {
  return Object.fromEntries(Object.entries(status).sort(([a], [b]) => (a < b ? -1 : 1)));
}
