import { isDeepStrictEqual } from 'node:util';
import { EVENT, PROVISIONED, READY_REASON, type ReadyReason } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Condition, ConditionStatus, Phase, Volume, VolumeStatus } from '../../api/volume.ts';
import { keyOf } from '../lib/event-key.ts';
import type { Action, EventToSend } from './types.ts';

export interface Ready {
  status: ConditionStatus;
  reason: ReadyReason;
  message: string;
  /** The finer reason, where there is one. */
  detail?: Reason | undefined;
  /** The message for the owner of the claim, who need not administer nodes, where it is another one. */
  told?: string | undefined;
}

/** Fields to be written; undefined for one that is to go. */
export type StatusFields = { [Field in keyof VolumeStatus]?: VolumeStatus[Field] | undefined };

/** The condition Ready of a Volume, or of what is left of one. */
export function readyOf({ status }: Pick<Volume, 'status'>): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === 'Ready');
}

/**
 * The action that gives a Volume this Ready condition, its phase, and other fields of its status; undefined when it
 * has them already, so that deciding the same again writes nothing.
 */
export function setStatus(
  volume: Volume,
  now: number,
  phase: Phase | undefined,
  { told, detail, ...ready }: Ready,
  fields: StatusFields = {},
): Action | undefined {
  const before = withoutAttachments(volume.status);
  const old = readyOf(volume);
  const isTold =
    old?.status === ready.status &&
    old.reason === ready.reason &&
    (detail === undefined || old.detail === undefined
      ? old.message === ready.message
      : keyOf(old.detail) === keyOf(detail));
  const same = isTold && old?.message === ready.message && isDeepStrictEqual(old.detail, detail);
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
    conditions: withTold(
      withCondition(before.conditions, same && old !== undefined ? old : condition),
      told === undefined
        ? undefined
        : {
            ...condition,
            type: PROVISIONED,
            status: 'False',
            message: told,
            // Parameters name what is on a node, which concerns those who administer it.
            ...(detail && { detail: { code: detail.code, parameters: {} } }),
            lastTransitionTime: at,
          },
    ),
    ...(volume.metadata.generation === undefined
      ? {}
      : { observedGeneration: volume.metadata.generation }),
  };
  if (JSON.stringify(sorted(status)) === JSON.stringify(sorted(before))) return undefined;
  const event = eventOf(before.phase, phase, { ...ready, detail }, isTold);
  return { do: 'set-status', status, ...(event === undefined ? {} : { event }) };
}

const defined = (fields: StatusFields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Where the device is belongs to who attaches it: it is neither compared nor written here. */
function withoutAttachments({ attachments: _, ...own }: VolumeStatus = {}): VolumeStatus {
  return own;
}

/** The merge patch that makes one status of another: what it has no longer is null. Attachments stay as they are. */
export function statusPatch(before: VolumeStatus | undefined, status: VolumeStatus): object {
  const wanted = withoutAttachments(status);
  const removed = Object.keys(withoutAttachments(before)).filter(
    (field) => wanted[field as keyof VolumeStatus] === undefined,
  );
  return { ...wanted, ...Object.fromEntries(removed.map((field) => [field, null])) };
}

/** The conditions with this one in the place of its type's. */
export function withCondition(
  conditions: readonly Condition[] = [],
  condition: Condition,
): Condition[] {
  return conditions.some(({ type }) => type === condition.type)
    ? conditions.map((other) => (other.type === condition.type ? condition : other))
    : [...conditions, condition];
}

/** The conditions with what the owner of the claim is told, for as long as that holds. */
function withTold(conditions: Condition[], told: Condition | undefined): Condition[] {
  if (told === undefined) return conditions.filter(({ type }) => type !== PROVISIONED);
  const old = conditions.find(({ type }) => type === PROVISIONED);
  const same = old?.message === told.message && old?.reason === told.reason;
  return same ? conditions : withCondition(conditions, told);
}

/** A change of phase is told, and so is every new reason for concern; the steps of a job are not. */
function eventOf(
  from: Phase | undefined,
  to: Phase | undefined,
  ready: Ready,
  told: boolean,
): EventToSend | undefined {
  const { status, reason, message, detail } = ready;
  const concern =
    status === 'False' ||
    reason === READY_REASON.nodeUnreachable ||
    reason === READY_REASON.nodeUnclear;
  const moved = to !== undefined && to !== from;
  if (!moved && (told || !concern)) return undefined;
  const text = message === '' ? reason : message;
  return {
    type: concern ? 'Warning' : 'Normal',
    reason: EVENT.stateTransition,
    message: moved ? `${from ?? 'Unknown'} → ${to}: ${text}` : text,
    ...(detail && { detail }),
  };
}

/** The fields in one order, so that two statuses can be compared as text. */
function sorted(status: VolumeStatus): unknown {
  return Object.fromEntries(Object.entries(status).sort(([a], [b]) => (a < b ? -1 : 1)));
}
