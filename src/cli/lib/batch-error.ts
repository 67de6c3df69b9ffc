import { type ErrorCode, StowageError } from '../../api/errors.ts';

/** Some or all of what a command was to do for each of several objects failed. */
export class BatchError extends StowageError {
  override readonly name = 'BatchError';
  /** Why, of each that failed. */
  readonly errors: readonly unknown[];

  constructor(code: ErrorCode, message: string, errors: readonly unknown[]) {
    super(code, message);
    this.errors = errors;
  }
}
