import { StowageError } from '../api/errors.ts';
import { codeOf, explain } from './failure.ts';
import type { GlobalFlags } from './globals.ts';
import type { Io } from './io.ts';

/**
 * Ends a command that was to do one thing for each of several objects: throws when some or all of that failed.
 * The errors of several are explained one by one here.
 */
export function conclude(errors: readonly unknown[], total: number, io: Io, flags: GlobalFlags): void {
  const [first] = errors;
  if (errors.length === 0) return;
  if (total === 1 || io.signal.aborted) throw first;
  for (const error of errors) explain(error, io, flags);
  const codes = new Set(errors.map(codeOf));
  const all = codes.size === 1 ? codeOf(first) : 'failed';
  throw new StowageError(errors.length < total ? 'partial' : all, `${errors.length} of ${total} failed`);
}
