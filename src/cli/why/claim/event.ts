import type { AnyEvent } from '../../../api/core.ts';
import { isDnsSubdomain } from '../../../api/dns-name.ts';
import { entryOf, type Reason, reasonOfAnnotations } from '../../../api/reasons.ts';
import { eventText, isOwn } from '../../lib/objects/events.ts';
import { foundIn } from '../../lib/read-result.ts';
import { claims } from '../fixes/claims.ts';
import { populators } from '../fixes/populators.ts';
import type { FixContext } from '../fixes/types.ts';
import { withoutAction } from '../obstruction.ts';
import type { Reason as Cause } from '../reasons.ts';
import type { Fix } from '../types.ts';
import { type ClaimFacts, describeCommand } from './facts.ts';

/**
 * Fixes for reasons in events. Includes no other family: users who may write events in a namespace
 * could otherwise make any fix appear.
 */
const FIXES: Partial<
  Record<string, (parameters: Reason['parameters'], context: FixContext) => Fix | undefined>
> = { ...claims, ...populators };

/** Returns the reason in an event of the daemon; undefined for an earlier version. Pure. */
export const reasonIn = (event: AnyEvent): Reason | undefined =>
  isOwn(event) ? reasonOfAnnotations(event.metadata.annotations) : undefined;

/** Returns the node that an event is about; undefined if it names none. Pure. */
export function nodeIn(event: AnyEvent): string | undefined {
  const node = reasonIn(event)?.parameters.node;
  return node !== undefined && isDnsSubdomain(node) ? node : undefined;
}

/**
 * Returns the cause that an event on a claim indicates. Pure.
 * @param otherwise cause for a reason that indicates nothing finer
 */
export function eventCause(event: AnyEvent, otherwise: Cause): Cause {
  const detail = reasonIn(event);
  const entry = detail && entryOf(detail);
  if (entry === undefined) return isOwn(event) ? 'UnknownReason' : otherwise;
  return (entry.cause as Cause | undefined) ?? otherwise;
}

/** Reports whether the daemon stated in an event that its feature gate is off. Pure. */
export const isGateOffEvent = (event: AnyEvent | undefined): boolean =>
  event !== undefined && eventCause(event, 'ProvisioningFailed') === 'GateOff';

/** Returns the text and the fix of an event on a claim. Pure. */
export function eventBlocker(known: ClaimFacts, event: AnyEvent): { holdup: string; fix: Fix } {
  const detail = reasonIn(event);
  const storageClass = foundIn(known.storageClass);
  const context = { node: nodeIn(event) ?? '', storageClass };
  const fix = detail && FIXES[detail.code]?.(detail.parameters, context);
  return {
    holdup: eventText(fix === undefined ? event : { ...event, message: eventSentence(event) }),
    fix: fix ?? { say: 'Check the events of the claim.', run: [describeCommand(known)] },
  };
}

/** Returns the message of an event without the action of its reason, for a fix of its own. Pure. */
export function eventSentence(event: AnyEvent): string {
  const { message = '' } = event;
  const detail = reasonIn(event);
  return detail === undefined ? message : withoutAction(message, detail);
}
