import { CommanderError } from 'commander';
import type { ErrorCode } from '../api/errors.ts';
import type { Io } from './io.ts';
import { coloursFor } from './output/colours.ts';
import { printable } from './output/printable.ts';
import { SignalError } from './signals.ts';

/** What scripts go by. A command that did all it was asked to exits with 0, one that a signal ended with 130 or 143. */
const EXIT: Readonly<Record<ErrorCode, number>> = {
  failed: 1,
  usage: 2,
  'not-found': 3,
  forbidden: 4,
  conflict: 5,
  timeout: 6,
  partial: 7,
};

/** Says on standard error what went wrong and what to do, and returns the exit status. */
export function failed(error: unknown, io: Io, flags: { color?: boolean; verbose?: boolean }): number {
  // commander has printed its message, and the help for which it also throws.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  const reason = io.signal.aborted ? io.signal.reason : error;
  if (reason instanceof SignalError) return reason.exitCode;
  explain(error, io, flags);
  return EXIT[codeOf(error)];
}

/** Prints an error and its hint. Errors of nodes/ have a hint too, but no class in common with the others. */
export function explain(error: unknown, io: Io, flags: { color?: boolean; verbose?: boolean }): void {
  const colours = coloursFor(io.stderr, io.env, flags.color);
  const message = error instanceof Error ? error.message : String(error);
  io.stderr.write(`${colours.red('error:')} ${printable(message)}\n`);
  const hint = property(error, 'hint');
  if (typeof hint === 'string') io.stderr.write(`${colours.dim(`hint: ${printable(hint)}`)}\n`);
  if (flags.verbose) io.stderr.write(`${printable(traceOf(error))}\n`);
}

/** How an error is classed, by its `code`; what has none (or one of the system's) is a failure. */
export function codeOf(error: unknown): ErrorCode {
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

const property = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
