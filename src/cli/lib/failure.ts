import { CommanderError } from 'commander';
import type { ErrorCode } from '../../api/errors.ts';
import { BatchError } from './batch-error.ts';
import { ExitError } from './exit-error.ts';
import type { Io } from './io.ts';
import { coloursFor } from './output/colours.ts';
import { printable } from './output/printable.ts';
import { SignalError } from './signals.ts';

/** What scripts go by. A command that did all it was asked to exits with 0, one that a signal ended with 130 or 143. */
export const EXIT: Readonly<Record<ErrorCode, number>> = {
  failed: 1,
  usage: 2,
  'not-found': 3,
  forbidden: 4,
  conflict: 5,
  timeout: 6,
  partial: 7,
};

/** Has `tell` say what went wrong, unless there is nothing to say, and returns the exit status. */
export function failed(error: unknown, io: Io, tell: (error: unknown) => void): number {
  // commander throws for the help that was asked for, too.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const reason = io.signal.aborted ? io.signal.reason : error;
  if (reason instanceof SignalError) return reason.exitCode;
  if (!(error instanceof ExitError)) tell(error);
  else if (error.cause !== undefined) tell(error.cause);
  return error instanceof ExitError ? error.exitCode : EXIT[codeOf(error)];
}

/** Prints an error and its hint; of a batch, each of its errors. Errors of nodes/ have a hint too, but no class in common. */
export function explain(
  error: unknown,
  io: Io,
  flags: { color?: boolean; verbose?: boolean },
): void {
  // commander has printed its message.
  if (error instanceof CommanderError) return;
  if (error instanceof BatchError) for (const each of error.errors) explain(each, io, flags);
  const colours = coloursFor(io.stderr, io.env, flags.color);
  io.stderr.write(`${colours.red('error:')} ${printable(messageOf(error))}\n`);
  const hint = property(error, 'hint');
  if (typeof hint === 'string') io.stderr.write(`${colours.dim(`hint: ${printable(hint)}`)}\n`);
  if (flags.verbose) io.stderr.write(`${printable(traceOf(error))}\n`);
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** How an error is classed, by its `code`; what has none (or one of the system's) is a failure. */
export function codeOf(error: unknown): ErrorCode {
  if (error instanceof CommanderError) return 'usage';
  const code = property(error, 'code');
  return typeof code === 'string' && Object.hasOwn(EXIT, code) ? (code as ErrorCode) : 'failed';
}

function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const stack = error.stack ?? String(error);
  return error.cause === undefined
    ? stack
    : `${stack}\ncaused by: ${traceOf(error.cause) || String(error.cause)}`;
}

export const property = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
