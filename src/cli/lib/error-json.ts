import { CommanderError } from 'commander';
import type { ErrorCode, ErrorObject } from '../../api/errors.ts';
import type { Status } from '../../api/meta.ts';
import { type Reason, readReason } from '../../api/reasons.ts';
import * as resources from '../../api/resources.ts';
import { BatchError } from './batch-error.ts';
import { codeOf, messageOf, property } from './failure.ts';
import { escapeControls } from './output/printable.ts';

/** Error as `-o json` prints it on standard error: docs/output.md. */
export interface ErrorData {
  /** Determines the exit status. */
  code: ErrorCode;
  /** Reason in CamelCase, finer than the code; the API server's, if it refused the request. */
  reason: string;
  message: string;
  hint?: string;
  /** Reason from docs/reasons.md, if there is one. */
  detail?: Reason;
  object?: ErrorObject;
  /** Errors of the objects that failed, for a batch. */
  errors?: ErrorData[];
}

export const REASONS: Readonly<Record<ErrorCode, string>> = {
  failed: 'Failed',
  usage: 'Usage',
  'not-found': 'NotFound',
  forbidden: 'Forbidden',
  conflict: 'Refused',
  timeout: 'Timeout',
  partial: 'PartlyDone',
};

/** Reasons of node errors, by their own codes. */
export const NODE_REASONS: Readonly<Record<string, string>> = {
  unreachable: 'NodeUnreachable',
  refused: 'NodeRefused',
  protocol: 'NodeNotUnderstood',
  'not-ours': 'NodeNotOurs',
};

/**
 * Returns an error as one line of JSON, with a newline. `inHint` adds the cluster of this run to a
 * hint's commands.
 */
export const errorLine = (error: unknown, inHint: (hint: string) => string): string =>
  `${escapeControls(JSON.stringify(errorData(error, inHint)))}\n`;

function errorData(error: unknown, inHint: (hint: string) => string): ErrorData {
  if (error instanceof CommanderError) return usageData(error);
  const code = codeOf(error);
  const hint = property(error, 'hint');
  const object = objectOf(error);
  const detail = property(error, 'name') === 'NodeError' ? 'reason' : 'detail';
  const known = readReason(property(error, detail));
  return {
    code,
    reason: reasonOf(error, code),
    message: messageOf(error),
    ...(typeof hint === 'string' ? { hint: inHint(hint) } : {}),
    ...(known === undefined ? {} : { detail: known }),
    ...(object === undefined ? {} : { object }),
    ...(error instanceof BatchError
      ? { errors: error.errors.map((each) => errorData(each, inHint)) }
      : {}),
  };
}

/** Converts commander's message for wrong usage: an error, then lines with suggestions. */
function usageData({ message }: CommanderError): ErrorData {
  const [first = '', ...more] = message.split('\n');
  const hint = more.map((line) => line.replace(/^hint: |^\(|\)$/g, '')).join(' ');
  return {
    code: 'usage',
    reason: REASONS.usage,
    message: first.replace(/^error: /, ''),
    ...(hint === '' ? {} : { hint }),
  };
}

function reasonOf(error: unknown, code: ErrorCode): string {
  const name = property(error, 'name');
  const reason = property(error, 'reason');
  if (name === 'ApiError' && typeof reason === 'string' && reason !== '') return reason;
  if (name === 'ConnectionError' && code === 'failed') return 'ServerUnreachable';
  if (name === 'NodeError') return NODE_REASONS[String(property(error, 'code'))] ?? REASONS.failed;
  return REASONS[code];
}

/** Returns the object of an error: the thrower's, the node of a NodeError, or the API server's. */
function objectOf(error: unknown): ErrorObject | undefined {
  const object = property(error, 'object');
  if (object !== undefined) return object as ErrorObject;
  const name = property(error, 'name');
  if (name === 'NodeError') return { kind: 'Node', name: String(property(error, 'node')) };
  const details = name === 'ApiError' ? (property(error, 'status') as Status).details : undefined;
  if (details?.name === undefined || details.kind === undefined) return undefined;
  // The API server usually names kinds by their plurals.
  const known = Object.values(resources).find(({ plural }) => plural === details.kind);
  return { kind: known?.kind ?? details.kind, name: details.name };
}
