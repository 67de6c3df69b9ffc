import { type ErrorObject, StowageError } from '../../api/errors.ts';
import { BatchError } from './batch-error.ts';
import { codeOf } from './failure.ts';
import type { Io } from './io.ts';

/** Ends a command for several objects: throws if some or all of them failed. */
export function conclude(errors: readonly unknown[], total: number, io: Pick<Io, 'signal'>): void {
  const [first] = errors;
  if (errors.length === 0) return;
  if (total === 1 || io.signal.aborted) throw first;
  const codes = new Set(errors.map(codeOf));
  const all = codes.size === 1 ? codeOf(first) : 'failed';
  const code = errors.length < total ? 'partial' : all;
  throw new BatchError(code, `${errors.length} of ${total} failed`, errors);
}

/** Adds the object to an error, unless the error names one already. */
export function about(error: unknown, object: ErrorObject): unknown {
  if (error instanceof StowageError) error.object ??= object;
  return error;
}
