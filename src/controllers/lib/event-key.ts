import { entryOf, type Reason } from '../../api/reasons.ts';
import type { EventToSend } from './event.ts';

/** Key of what an event tells, by which it is told once: the message counts only where there is no finer reason. */
export const saidBy = ({ reason, message, detail, about = '' }: EventToSend): string =>
  `${reason}: ${detail === undefined ? message : keyOf(detail)} ${about}`.trimEnd();

/** Key of a reason: its code with the parameters that count, as figures of room do not. */
export function keyOf(detail: Reason): string {
  const { varies = [] } = entryOf(detail) ?? {};
  const counting = Object.entries(detail.parameters).filter(([name]) => !varies.includes(name));
  // The API server gives them back in another order.
  return `${detail.code} ${JSON.stringify(counting.sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}
