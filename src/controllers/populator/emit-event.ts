import type { EventToTell, MachineDecision, MachineInput } from './types.ts';

/** What tells it from others. */
export const textOf = ({ reason, message, about }: EventToTell): string =>
  `${reason}: ${about ?? message}`;

/** Once; then until something changes, or `otherwise` says. Pure. */
export function tell(
  input: Pick<MachineInput, 'told'>,
  type: EventToTell['type'],
  reason: string,
  message: string,
  otherwise: MachineDecision = {},
): MachineDecision {
  return tellEvent(input, { type, reason, message }, otherwise);
}

export const tellEvent = (
  { told }: Pick<MachineInput, 'told'>,
  event: EventToTell,
  otherwise: MachineDecision = {},
): MachineDecision => (told === textOf(event) ? otherwise : { action: { do: 'tell', event } });
