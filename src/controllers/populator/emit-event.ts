import type { Explanation } from '../../api/reasons.ts';
import type { EventToSend } from '../lib/event.ts';
import { eventKey } from '../lib/event-key.ts';
import type { PopulatorDecision, PopulatorInput } from './types.ts';

/** Emits an event once; returns `otherwise` while it is the last one of the claim. Pure. */
export function emit(
  input: Pick<PopulatorInput, 'lastEvent'>,
  type: EventToSend['type'],
  reason: string,
  why: Explanation,
  otherwise: PopulatorDecision = {},
): PopulatorDecision {
  return emitEvent(input, { type, reason, ...why }, otherwise);
}

export const emitEvent = (
  { lastEvent }: Pick<PopulatorInput, 'lastEvent'>,
  event: EventToSend,
  otherwise: PopulatorDecision = {},
): PopulatorDecision =>
  lastEvent?.key === eventKey(event) ? otherwise : { action: { do: 'emit-event', event } };
