import { age } from '../../../api/age.ts';
import type { AnyEvent, ObjectReference, Pod } from '../../../api/core.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { roundedSize } from '../../../api/rounded-size.ts';
import type { Field, FieldValue } from '../output/fields.ts';
import { sizeKey } from '../output/sort-keys.ts';
import { table } from '../output/table.ts';
import type { Reading } from '../read-result.ts';
import { lastSeen } from './related.ts';

/** Parts of what `stowage describe` prints. `now` is in ms since the epoch. */

/** Returns the first fields of an object. */
export const headFields = ({ metadata }: KubeObject, now: number): Field[] => [
  ['Name', metadata.name],
  ...given('Namespace', metadata.namespace),
  ['Created', since(metadata.creationTimestamp, now)],
  ...given('Deletion requested', since(metadata.deletionTimestamp, now)),
];

/** Returns the value to show, or the reason why it may not be read. */
export function shown<T>(what: Reading<T>, draw: (found: T) => FieldValue): FieldValue {
  if ('found' in what) return draw(what.found);
  return 'forbidden' in what ? `not shown: ${what.forbidden}` : undefined;
}

export const since = (time: string | undefined, now: number): string | undefined =>
  time === undefined ? undefined : `${time} (${age(time, now) ?? 'unknown'} ago)`;

export const given = (label: string, value: string | undefined): Field[] =>
  value === undefined ? [] : [[label, value]];

/** Copy of the whole object, for kubectl only, which omits it as well. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns labels, annotations or parameters as `KEY=VALUE`. */
export const pairs = (all: Record<string, string> | undefined): string[] =>
  Object.entries(all ?? {})
    .filter(([key]) => key !== LAST_APPLIED)
    .map(([key, value]) => `${key}=${value}`);

/** Returns a published free space, rounded down; as it is if it is no quantity. */
export const freeText = (capacity: string | undefined): string | undefined =>
  sizeKey(capacity) < 0n ? capacity : roundedSize(Number(sizeKey(capacity)));

/** Returns a pod that uses a claim, in one line. */
export function podText({ metadata, spec, status }: Pod): string {
  const where = spec.nodeName ? ` on node ${spec.nodeName}` : ', not scheduled';
  return `pod ${metadata.name} (${status?.phase ?? 'Unknown'})${where}`;
}

/** Returns a table below the label, unless it has no rows. */
export const tableField = (
  headings: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
): FieldValue => (rows.length === 0 ? undefined : { table: table(headings, rows) });

/**
 * Returns a table of events. `objectOf` returns a cell for the object, if events are of several.
 */
export const eventTable = (
  events: readonly AnyEvent[],
  now: number,
  objectOf?: (object: ObjectReference) => string | undefined,
): FieldValue =>
  tableField(
    ['TYPE', 'REASON', 'AGE', 'FROM', ...(objectOf ? ['OBJECT'] : []), 'MESSAGE'],
    events.map((event) => [
      event.type,
      event.reason,
      seen(event, now),
      event.source?.component || event.reportingComponent,
      ...(objectOf ? [objectOf(event.involvedObject)] : []),
      event.message,
    ]),
  );

/** Returns the age as kubectl shows it: `5s (x3 over 2m)`. */
function seen(event: AnyEvent, now: number): string | undefined {
  const last = age(lastSeen(event), now);
  const count = event.series?.count ?? event.count ?? 1;
  const first = age(event.firstTimestamp ?? event.eventTime ?? undefined, now);
  return count > 1 && first !== undefined ? `${last} (x${count} over ${first})` : last;
}
