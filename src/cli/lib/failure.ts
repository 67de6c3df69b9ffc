import { CommanderError } from 'commander';
import type { ErrorCode } from '../../api/errors.ts';
import { BatchError } from './batch-error.ts';
import { ExitError } from './exit-error.ts';
import type { Io } from './io.ts';
import { colorsFor } from './output/colors.ts';
import { printable } from './output/printable.ts';
import { SignalError } from './signals.ts';

/** Exit status by error code, for scripts. Success exits with 0, a signal with 130 or 143. */
export const EXIT: Readonly<Record<ErrorCode, number>> = {
  failed: 1,
  usage: 2,
  'not-found': 3,
  forbidden: 4,
  conflict: 5,
  timeout: 6,
  partial: 7,
};

/**
 * Calls `report` with the error, unless there is nothing to report, and returns the exit status.
 */
export async function failed(
  error: unknown,
  io: Io,
  report: (error: unknown) => Promise<void>,
): Promise<number> {
  // commander also throws for requested help.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const reason = io.signal.aborted ? io.signal.reason : error;
  if (reason instanceof SignalError) return reason.exitCode;
  if (!(error instanceof ExitError)) await report(error);
  else if (error.cause !== undefined) await report(error.cause);
  return error instanceof ExitError ? error.exitCode : EXIT[codeOf(error)];
}

/**
 * Prints an error and its hint; for a batch, each of its errors first. Errors of nodes/ have a hint
 * too, but no class in common. `inHint` adds the cluster of this run to a hint's commands.
 */
export function explain(
  error: unknown,
  io: Io,
  flags: { color?: boolean; verbose?: boolean },
  inHint: (hint: string) => string,
): void {
  // commander has printed its message already.
  if (error instanceof CommanderError) return;
  if (error instanceof BatchError)
    for (const each of error.errors) explain(each, io, flags, inHint);
  const colors = colorsFor(io.stderr, io.env, flags.color);
  io.stderr.write(`${colors.red('error:')} ${printable(messageOf(error))}\n`);
  const hint = property(error, 'hint');
  if (typeof hint === 'string')
    io.stderr.write(`${colors.dim(`hint: ${printable(inHint(hint))}`)}\n`);
  if (flags.verbose) io.stderr.write(`${printable(traceOf(error))}\n`);
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Returns the code of an error. An error without a code, or with a system's, is a failure. */
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
