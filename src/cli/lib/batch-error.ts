import { type ErrorCode, StowageError } from '../../api/errors.ts';

/** Failure of a command for some or all of several objects. */
export class BatchError extends StowageError {
  override readonly name = 'BatchError';
  readonly errors: readonly unknown[];

  constructor(code: ErrorCode, message: string, errors: readonly unknown[]) {
    super(code, message);
    this.errors = errors;
  }
}
