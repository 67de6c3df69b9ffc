import { PARAMETERS_ANNOTATION, REASON_ANNOTATION } from './names.ts';
import { ATTACHMENTS } from './reasons/attachments.ts';
import { BACKUPS } from './reasons/backups.ts';
import { CLAIMS } from './reasons/claims.ts';
import { COPIES } from './reasons/copies.ts';
import { DEVICES } from './reasons/devices.ts';
import { DIRECTORIES } from './reasons/directories.ts';
import { FILES } from './reasons/files.ts';
import { FILLS } from './reasons/fills.ts';
import { JOBS } from './reasons/jobs.ts';
import { LVM } from './reasons/lvm.ts';
import { NODES } from './reasons/nodes.ts';
import { OBSERVATIONS } from './reasons/observations.ts';
import { POPULATORS } from './reasons/populators.ts';
import { SHARED_FILES } from './reasons/shared-files.ts';
import { SNAPSHOTS } from './reasons/snapshots.ts';
import { fill, type ParametersOf } from './reasons/template.ts';
import type { Reason, ReasonEntry } from './reasons/types.ts';
import { VOLUMES } from './reasons/volumes.ts';

export type { Reason } from './reasons/types.ts';

/** Every reason that Stowage gives, by its code: docs/reasons.md is made of it. */
export const REASONS = {
  ...ATTACHMENTS,
  ...BACKUPS,
  ...CLAIMS,
  ...COPIES,
  ...DEVICES,
  ...DIRECTORIES,
  ...FILES,
  ...FILLS,
  ...JOBS,
  ...LVM,
  ...NODES,
  ...OBSERVATIONS,
  ...POPULATORS,
  ...SHARED_FILES,
  ...SNAPSHOTS,
  ...VOLUMES,
} as const;

export type ReasonCode = keyof typeof REASONS;

type TextOf<Code extends ReasonCode> = (typeof REASONS)[Code] extends { action: infer Action }
  ? `${(typeof REASONS)[Code]['message']}${Action & string}`
  : (typeof REASONS)[Code]['message'];

/** The parameters of a reason, of its message and of its action. */
export type ReasonParameters<Code extends ReasonCode> = ParametersOf<TextOf<Code>>;

/** A code needs no parameters where its texts have none. */
type Given<Code extends ReasonCode> =
  Record<never, never> extends ReasonParameters<Code>
    ? [parameters?: ReasonParameters<Code>]
    : [parameters: ReasonParameters<Code>];

/** Characters of a parameter, and of all of a reason as JSON, at most: it is kept in annotations and in a status. */
const LONGEST_PARAMETER = 1024;
const LONGEST_REASON = 8192;

/** The parameters that have a value, as text. */
const textsOf = (given: object | undefined): [string, string][] =>
  Object.entries<unknown>({ ...given })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)]);

/** A reason, with its parameters as text, which is cut where it is long. Pure. */
export function reason<Code extends ReasonCode>(code: Code, ...[given]: Given<Code>): Reason {
  return bounded({ code, parameters: Object.fromEntries(textsOf(given)) }, LONGEST_PARAMETER);
}

/**
 * The same reason with parameters of so many characters at most, and of fewer where it is longer as JSON than a reason may be, as
 * one of quotes is. Pure.
 */
export function bounded({ code, parameters }: Reason, longest: number): Reason {
  const cut = Object.entries(parameters).map(([name, text]) => [
    name,
    text.slice(0, longest).toWellFormed(),
  ]);
  const found: Reason = { code, parameters: Object.fromEntries(cut) };
  return JSON.stringify(found).length > LONGEST_REASON ? bounded(found, longest >> 1) : found;
}

/** The entry of a reason; undefined for a code that this version does not know. Pure. */
export const entryOf = ({ code }: Reason): ReasonEntry | undefined =>
  Object.hasOwn(REASONS, code) ? REASONS[code as ReasonCode] : undefined;

/** The sentence of a reason, without a full stop; undefined for a code that this version does not know. Pure. */
export function messageOf(of: Reason): string | undefined {
  const entry = entryOf(of);
  return entry && fill(entry.message, of.parameters);
}

/** Returns advice for a person; undefined where nothing is known that helps. Pure. */
export function actionOf(of: Reason): string | undefined {
  const action = entryOf(of)?.action;
  return action && fill(action, of.parameters);
}

/** The public reason that it shows under, whatever was under way. Pure. */
export const shownAs = (of: Reason | undefined): ReasonEntry['shows'] => of && entryOf(of)?.shows;

/** A reason with its texts, as plans and preconditions have it. */
export interface Refused {
  reason: Reason;
  refusal: string;
  /** Empty where nothing is known that helps. */
  hint: string;
}

/** A message of which the reason is known, where it has one: a condition, an event or an attachment has it. */
export interface Explanation {
  message: string;
  detail?: Reason | undefined;
}

/** The message and the action of a reason as one text, with the reason. Pure. */
export function explain<Code extends ReasonCode>(
  code: Code,
  ...given: Given<Code>
): Explanation & { detail: Reason } {
  const { reason: detail, refusal, hint } = refuse(code, ...given);
  return { message: hint === '' ? refusal : `${refusal}. ${hint}`, detail };
}

/** Refuses for a reason. The texts are whole. Pure. */
export function refuse<Code extends ReasonCode>(code: Code, ...given: Given<Code>): Refused {
  const whole = { code, parameters: Object.fromEntries(textsOf(given[0])) };
  return {
    reason: reason(code, ...given),
    refusal: messageOf(whole) ?? code,
    hint: actionOf(whole) ?? '',
  };
}

/** Reads a reason that was written by any version; undefined where it is none. Pure. */
export function readReason(value: unknown): Reason | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { code, parameters = {} } = value as { code?: unknown; parameters?: unknown };
  if (typeof code !== 'string' || !/^[A-Z][A-Za-z0-9]{0,63}$/.test(code)) return undefined;
  if (typeof parameters !== 'object' || parameters === null) return undefined;
  const all = Object.entries(parameters);
  const isText = ([, each]: [string, unknown]) =>
    typeof each === 'string' && each.length <= LONGEST_PARAMETER;
  return all.every(isText) ? { code, parameters: Object.fromEntries(all) } : undefined;
}

/** Reads a reason of JSON, which anybody may have written; undefined where that is none. Pure. */
export function parseReason(text: string | undefined): Reason | undefined {
  if (text === undefined || text.length > LONGEST_REASON) return undefined;
  try {
    return readReason(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The annotations that tell the reason of an Event. Pure. */
export const reasonAnnotations = ({ code, parameters }: Reason): Record<string, string> => ({
  [REASON_ANNOTATION]: code,
  [PARAMETERS_ANNOTATION]: JSON.stringify(parameters),
});

/** Reads such annotations, which anybody may have written; undefined where they tell no reason. Pure. */
export function reasonOfAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
): Reason | undefined {
  const code = annotations?.[REASON_ANNOTATION];
  const parameters = annotations?.[PARAMETERS_ANNOTATION] ?? '{}';
  if (code === undefined || parameters.length > LONGEST_REASON) return undefined;
  try {
    return readReason({ code, parameters: JSON.parse(parameters) });
  } catch {
    return undefined;
  }
}
