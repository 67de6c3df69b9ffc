import type { Reason } from './reasons.ts';

/** Category of an error. The executable maps each to one exit status. */
export type ErrorCode =
  | 'failed'
  | 'usage'
  | 'not-found'
  | 'forbidden'
  | 'conflict'
  | 'timeout'
  | 'partial';

/** Object that an error is about. */
export interface ErrorObject {
  kind: string;
  name: string;
  namespace?: string;
}

/**
 * Error with a message that a person can act on: the failed action, its
 * object, the cause, and a hint.
 */
export class StowageError extends Error {
  override readonly name: string = 'StowageError';
  readonly code: ErrorCode;
  /** Next step, as a sentence or a command. */
  readonly hint: string | undefined;
  /** Set by a caller that knows the object, if the thrower does not. */
  object: ErrorObject | undefined;
  /** Reason of the refusal, if it has a code. */
  readonly detail: Reason | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; cause?: unknown; object?: ErrorObject; detail?: Reason } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.object = options.object;
    this.detail = options.detail;
  }
}
