import {
  ERROR_TIME_ANNOTATION,
  PARAMETERS_ANNOTATION,
  REASON_ANNOTATION,
} from '../../api/names.ts';
import { formatBytes } from '../../api/quantity.ts';
import {
  type Explanation,
  type Reason,
  reasonAnnotations,
  reasonOfAnnotations,
} from '../../api/reasons.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../api/snapshot.ts';
import { withoutPaths } from '../../nodes/public-text.ts';
import type { EventToSend } from '../lib/event.ts';

type SnapshotStatus = NonNullable<VolumeSnapshot['status']>;
type ContentStatus = NonNullable<VolumeSnapshotContent['status']>;

/** Fields to write; null removes a field, as in a merge patch. */
export type SnapshotStatusFields = {
  [Field in keyof SnapshotStatus]?: SnapshotStatus[Field] | null;
};
export type ContentStatusFields = { [Field in keyof ContentStatus]?: ContentStatus[Field] | null };

interface SetStatus<Fields> {
  do: 'set-status';
  fields: Fields;
  event?: EventToSend;
}

/**
 * Returns the action that sets the status fields and emits the event; undefined if the status has
 * them already, so that repeated decisions write nothing.
 */
export function setFields<Fields extends SnapshotStatusFields | ContentStatusFields>(
  status: object | undefined,
  wanted: Fields,
  event?: EventToSend,
): SetStatus<Fields> | undefined {
  const before = (status ?? {}) as Record<string, unknown>;
  const changed = Object.entries(wanted).filter(
    ([field, value]) => JSON.stringify(before[field] ?? null) !== JSON.stringify(value ?? null),
  );
  if (changed.length === 0) return undefined;
  return {
    do: 'set-status',
    fields: Object.fromEntries(changed) as Fields,
    ...(event && { event }),
  };
}

/**
 * Returns the action that reports an obstacle in the status and by an event; undefined if the
 * status has it already.
 */
export function setProblem(
  object: VolumeSnapshot | VolumeSnapshotContent,
  now: number,
  reason: string,
  { message, detail }: Explanation,
): SetStatus<Pick<SnapshotStatus, 'error'> & { readyToUse: boolean }> | undefined {
  const { status } = object;
  const isReported = status?.error?.message === message && status.readyToUse === false;
  if (isReported) return undefined;
  const error = { message, time: new Date(now).toISOString() };
  return {
    do: 'set-status',
    fields: { readyToUse: false, error },
    event: { type: 'Warning', reason, message, detail },
  };
}

/**
 * Returns the reason of the content's error, if it has one. Annotations store the reason: the
 * status is that of the standard API.
 */
export const detailOf = ({
  metadata: { annotations },
  status,
}: VolumeSnapshotContent): Reason | undefined =>
  status?.error != null && annotations?.[ERROR_TIME_ANNOTATION] === status.error.time
    ? reasonOfAnnotations(annotations)
    : undefined;

/**
 * Returns the annotations that hold an error's reason; without a reason, those that remove it.
 * Pure.
 */
export const detailAnnotations = (
  detail: Reason | undefined,
  time: string | undefined,
): Record<string, string | null> =>
  detail === undefined || time === undefined
    ? {
        [REASON_ANNOTATION]: null,
        [PARAMETERS_ANNOTATION]: null,
        [ERROR_TIME_ANNOTATION]: null,
      }
    : { ...reasonAnnotations(detail), [ERROR_TIME_ANNOTATION]: time };

/**
 * Returns the status of a bound VolumeSnapshot: its content's name and a copy of the content's
 * status.
 */
export function shownOf({ metadata, status }: VolumeSnapshotContent): SnapshotStatusFields {
  const { creationTime, restoreSize, readyToUse, error } = status ?? {};
  return {
    boundVolumeSnapshotContentName: metadata.name,
    readyToUse: readyToUse ?? false,
    // Values once known are never removed.
    ...(typeof creationTime === 'number' && { creationTime: timeOf(creationTime) }),
    ...(typeof restoreSize === 'number' && {
      restoreSize: formatBytes(BigInt(Math.trunc(restoreSize))),
    }),
    // The owner of a snapshot may not administer nodes: only the content has the full message.
    error: error === undefined ? null : { ...error, message: withoutPaths(error.message ?? '') },
  };
}

/** Formats ns since the epoch as metav1.Time, in whole seconds. */
const timeOf = (ns: number): string =>
  new Date(Math.floor(ns / 1e6)).toISOString().replace(/\.\d+Z$/, 'Z');
