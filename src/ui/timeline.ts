import type { VolumeDetail } from './protocol.ts';

/** Entry of a timeline. */
export interface Happening {
  /** RFC 3339, or '' if unknown. */
  time: string;
  kind: 'Event' | 'Condition' | 'Job' | 'Attachment' | 'Volume';
  /** Such as the reason of an event. */
  title: string;
  message: string;
  /** True for a warning, and for an attachment that something blocks. */
  isWarning: boolean;
}

/**
 * Returns events, changes of conditions and attachments, and the last job of a Volume, the newest
 * first. Entries without a time are last. Pure.
 */
export function timelineOf({ row, conditions, events, job }: VolumeDetail): Happening[] {
  const all: Happening[] = [
    ...('found' in events ? events.found : []).map(
      ({ last, first, type, reason, message, count }): Happening => ({
        time: last,
        kind: 'Event',
        title: reason,
        message: count > 1 ? `${message} (${timesText(count, first)})` : message,
        isWarning: type === 'Warning',
      }),
    ),
    ...conditions.map(
      ({ since, type, status, reason, message }): Happening => ({
        time: since,
        kind: 'Condition',
        title: `${type} became ${status}`,
        message: [reason, message].filter((each) => each !== '').join(': '),
        isWarning: false,
      }),
    ),
    ...row.attachments.map(
      ({ since, node, state, device, message }): Happening => ({
        time: since,
        kind: 'Attachment',
        title: `${state} on ${node}`,
        message: [device, message].filter((each) => each !== '').join(': '),
        isWarning: message !== '',
      }),
    ),
    ...(job === undefined
      ? []
      : [
          {
            time: job.reported,
            kind: 'Job' as const,
            title: job.name,
            message: `attempt ${job.attempt}, the last one`,
            isWarning: false,
          },
        ]),
    { time: row.created, kind: 'Volume', title: 'Created', message: '', isWarning: false },
  ];
  return all.toSorted((a, b) => (Date.parse(b.time) || 0) - (Date.parse(a.time) || 0));
}

const timesText = (count: number, first: string): string =>
  first === '' ? `${count} times` : `${count} times since ${new Date(first).toLocaleString()}`;
