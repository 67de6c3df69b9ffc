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

/** Fields to be written; null for one that is to go, as in a merge patch. */
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
 * The action that gives an object these fields of its status; undefined where it has them, so that deciding the same
 * again writes nothing. The event goes with it.
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

/** The action that says what an object waits for, once: in the status and by an event. undefined where it was said. */
export function setProblem(
  object: VolumeSnapshot | VolumeSnapshotContent,
  now: number,
  reason: string,
  { message, detail }: Explanation,
): SetStatus<Pick<SnapshotStatus, 'error'> & { readyToUse: boolean }> | undefined {
  const { status } = object;
  const said = status?.error?.message === message && status.readyToUse === false;
  if (said) return undefined;
  const error = { message, time: new Date(now).toISOString() };
  return {
    do: 'set-status',
    fields: { readyToUse: false, error },
    event: { type: 'Warning', reason, message, detail },
  };
}

/** The reason of its error, where it has one. It is no part of the status, which is the standard's. */
export const detailOf = ({
  metadata: { annotations },
  status,
}: VolumeSnapshotContent): Reason | undefined =>
  status?.error != null && annotations?.[ERROR_TIME_ANNOTATION] === status.error.time
    ? reasonOfAnnotations(annotations)
    : undefined;

/** The annotations that tell the reason of an error; without one those that take it away. Pure. */
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

/** What a bound VolumeSnapshot shows: its content's name and what that says of itself. */
export function shownOf({ metadata, status }: VolumeSnapshotContent): SnapshotStatusFields {
  const { creationTime, restoreSize, readyToUse, error } = status ?? {};
  return {
    boundVolumeSnapshotContentName: metadata.name,
    readyToUse: readyToUse ?? false,
    // Of what was known once, nothing is taken back.
    ...(typeof creationTime === 'number' && { creationTime: timeOf(creationTime) }),
    ...(typeof restoreSize === 'number' && {
      restoreSize: formatBytes(BigInt(Math.trunc(restoreSize))),
    }),
    // Its owner need not be who administers nodes: the content has the whole.
    error: error === undefined ? null : { ...error, message: withoutPaths(error.message ?? '') },
  };
}

/** From ns since the epoch, as metav1.Time is written: in whole seconds. */
const timeOf = (ns: number): string =>
  new Date(Math.floor(ns / 1e6)).toISOString().replace(/\.\d+Z$/, 'Z');
