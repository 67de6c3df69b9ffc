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

/** All reasons that Stowage gives, by code; source of docs/reasons.md. */
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

/** Parameters of a reason's message and action. */
export type ReasonParameters<Code extends ReasonCode> = ParametersOf<TextOf<Code>>;

/** Argument for the parameters of a code, optional if its texts have none. */
type Given<Code extends ReasonCode> =
  Record<never, never> extends ReasonParameters<Code>
    ? [parameters?: ReasonParameters<Code>]
    : [parameters: ReasonParameters<Code>];

/**
 * Maximum characters of a parameter, and of a reason as JSON: annotations and statuses store it.
 */
const LONGEST_PARAMETER = 1024;
const LONGEST_REASON = 8192;

/** Returns the parameters that have a value, as text. */
const textsOf = (given: object | undefined): [string, string][] =>
  Object.entries<unknown>({ ...given })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)]);

/** Returns a reason with its parameters as text, truncated if too long. Pure. */
export function reason<Code extends ReasonCode>(code: Code, ...[given]: Given<Code>): Reason {
  return bounded({ code, parameters: Object.fromEntries(textsOf(given)) }, LONGEST_PARAMETER);
}

/**
 * Truncates the parameters of a reason to `longest` characters, and further if the reason is too
 * long as JSON, such as one full of quotes. Pure.
 */
export function bounded({ code, parameters }: Reason, longest: number): Reason {
  const cut = Object.entries(parameters).map(([name, text]) => [
    name,
    text.slice(0, longest).toWellFormed(),
  ]);
  const found: Reason = { code, parameters: Object.fromEntries(cut) };
  return JSON.stringify(found).length > LONGEST_REASON ? bounded(found, longest >> 1) : found;
}

/** Returns the entry of a reason; undefined for a code unknown to this version. Pure. */
export const entryOf = ({ code }: Reason): ReasonEntry | undefined =>
  Object.hasOwn(REASONS, code) ? REASONS[code as ReasonCode] : undefined;

/**
 * Returns the sentence of a reason, without a period; undefined for a code
 * unknown to this version. Pure.
 */
export function messageOf(of: Reason): string | undefined {
  const entry = entryOf(of);
  return entry && fill(entry.message, of.parameters);
}

/** Returns advice for a person; undefined if there is none. Pure. */
export function actionOf(of: Reason): string | undefined {
  const action = entryOf(of)?.action;
  return action && fill(action, of.parameters);
}

/**
 * Returns the public reason to show instead of the operation's own;
 * undefined if there is none. Pure.
 */
export const shownAs = (of: Reason | undefined): ReasonEntry['shows'] => of && entryOf(of)?.shows;

/** Reason with its texts, as in plans and preconditions. */
export interface Refused {
  reason: Reason;
  refusal: string;
  /** Empty if there is no advice. */
  hint: string;
}

/** Message with its reason, if known, as in a condition, an event or an attachment. */
export interface Explanation {
  message: string;
  detail?: Reason | undefined;
}

/** Returns the message and action of a reason as one text, with the reason. Pure. */
export function explain<Code extends ReasonCode>(
  code: Code,
  ...given: Given<Code>
): Explanation & { detail: Reason } {
  const { reason: detail, refusal, hint } = refuse(code, ...given);
  return { message: hint === '' ? refusal : `${refusal}. ${hint}`, detail };
}

/** Returns a refusal for a reason. Its texts are not truncated. Pure. */
export function refuse<Code extends ReasonCode>(code: Code, ...given: Given<Code>): Refused {
  const whole = { code, parameters: Object.fromEntries(textsOf(given[0])) };
  return {
    reason: reason(code, ...given),
    refusal: messageOf(whole) ?? code,
    hint: actionOf(whole) ?? '',
  };
}

/** Returns a reason that any version wrote; undefined if the value is none. Pure. */
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

/** Parses a reason from JSON of any origin; returns undefined if it is none. Pure. */
export function parseReason(text: string | undefined): Reason | undefined {
  if (text === undefined || text.length > LONGEST_REASON) return undefined;
  try {
    return readReason(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Returns the annotations that hold a reason. Pure. */
export const reasonAnnotations = ({ code, parameters }: Reason): Record<string, string> => ({
  [REASON_ANNOTATION]: code,
  [PARAMETERS_ANNOTATION]: JSON.stringify(parameters),
});

/** Parses a reason from annotations of any origin; returns undefined if they hold none. Pure. */
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
