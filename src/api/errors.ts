import type { Reason } from './reasons.ts';

/** What went wrong, for whoever must act on it. The executable maps each code to one exit status. */
export type ErrorCode =
  | 'failed'
  | 'usage'
  | 'not-found'
  | 'forbidden'
  | 'conflict'
  | 'timeout'
  | 'partial';

/** The object that an error is about. */
export interface ErrorObject {
  kind: string;
  name: string;
  namespace?: string;
}

/** An error with a message a person can act on: what happened to which object, what was found, what to do. */
export class StowageError extends Error {
  override readonly name: string = 'StowageError';
  readonly code: ErrorCode;
  /** What to do next, as a sentence or a command. */
  readonly hint: string | undefined;
  /** Filled in by whoever knows it, where the thrower does not. */
  object: ErrorObject | undefined;
  /** The refusal's reason, where it has a code. */
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
