import { entryOf, type Reason } from '../../api/reasons.ts';
import type { EventToSend } from './event.ts';

/**
 * Returns a key for deduplicating an event: its message counts only without a more specific reason.
 */
export const eventKey = ({ reason, message, detail, about = '' }: EventToSend): string =>
  `${reason}: ${detail === undefined ? message : keyOf(detail)} ${about}`.trimEnd();

/**
 * Returns a key of a reason: its code with the parameters that identify it, unlike amounts of free
 * space.
 */
export function keyOf(detail: Reason): string {
  const { varies = [] } = entryOf(detail) ?? {};
  const counting = Object.entries(detail.parameters).filter(([name]) => !varies.includes(name));
  // The API server returns the parameters in another order.
  return `${detail.code} ${JSON.stringify(counting.sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}
