import { type Reason, type Refused, refuse } from '../api/reasons.ts';
import type { ProbeResult } from '../nodes/job.ts';
import { withHint } from '../nodes/job-text.ts';
import { saysMissing } from './errno.ts';

/** Error for an answer that permits no safe conclusion. */
export class ObservationError extends Error {
  override readonly name = 'ObservationError';
  readonly reason: Reason;

  constructor({ reason, refusal, hint }: Refused, cause?: unknown) {
    super(withHint(refusal, hint), cause === undefined ? {} : { cause });
    this.reason = reason;
  }
}

/**
 * Returns a function that finds the result of a probe by name. `from`: the package of its program,
 * for the error.
 * @throws ObservationError from that function if there is no result, or the node lacks the program
 */
export function answersOf(
  results: ReadonlyMap<string, ProbeResult>,
): (name: string, from?: string) => ProbeResult {
  return (name, from) => {
    const result = results.get(name);
    if (result === undefined)
      throw new ObservationError(refuse('ProbeUnanswered', { probe: name }));
    if (result.exit === 127)
      throw new ObservationError(
        refuse('ProbeToolMissing', { package: from, said: result.stderr.trim() }),
      );
    return result;
  };
}

/**
 * Returns the output of a command that has no reason to fail.
 * @throws ObservationError if it failed
 */
export function succeeded(name: string, result: ProbeResult): string {
  if (result.exit !== 0) throw failed(name, result);
  return result.stdout;
}

/**
 * Returns the output; undefined if the object does not exist, which only ENOENT proves.
 * @throws ObservationError for any other error
 */
export function optional(name: string, result: ProbeResult): string | undefined {
  if (result.exit === 0) return result.stdout;
  // A program prints one line for each file.
  if (result.stderr.trimEnd().split('\n').every(saysMissing)) return undefined;
  throw failed(name, result);
}

/**
 * Returns the listing of a directory; '' if the directory does not exist.
 * @throws ObservationError for a partial listing
 */
export function listed(name: string, result: ProbeResult): string {
  const all = optional(name, result);
  if (all === undefined && result.stdout !== '') throw failed(name, result);
  return all ?? '';
}

export function failed(name: string, result: ProbeResult): ObservationError {
  return new ObservationError(
    refuse('ProbeFailed', { probe: name, exit: result.exit, said: result.stderr.trim() }),
  );
}

/** Refuses the output of a program that cannot be parsed. Pure. */
export const notUnderstood = (program: string, output: unknown): Refused =>
  refuse('OutputNotUnderstood', { program, said: String(output) });
