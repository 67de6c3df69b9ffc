import type { EventToSend, MachineDecision, MachineInput } from './types.ts';

/** What tells it from others. */
export const textOf = ({ reason, message, about }: EventToSend): string =>
  `${reason}: ${about ?? message}`;

/** Once; then until something changes, or `otherwise` says. Pure. */
export function emit(
  input: Pick<MachineInput, 'told'>,
  type: EventToSend['type'],
  reason: string,
  message: string,
  otherwise: MachineDecision = {},
): MachineDecision {
  return emitEvent(input, { type, reason, message }, otherwise);
}

export const emitEvent = (
  { told }: Pick<MachineInput, 'told'>,
  event: EventToSend,
  otherwise: MachineDecision = {},
): MachineDecision => (told === textOf(event) ? otherwise : { action: { do: 'tell', event } });
