import { type Reason, type Refused, refuse } from '../api/reasons.ts';
import type { ProbeResult } from '../nodes/job.ts';
import { withHint } from '../nodes/job-text.ts';

/** An answer from which nothing safe can be concluded. */
export class ObservationError extends Error {
  override readonly name = 'ObservationError';
  readonly reason: Reason;

  constructor({ reason, refusal, hint }: Refused, cause?: unknown) {
    super(withHint(refusal, hint), cause === undefined ? {} : { cause });
    this.reason = reason;
  }
}

/** @throws ObservationError where there is no answer, or the node lacks the program */
export function answersOf(
  results: ReadonlyMap<string, ProbeResult>,
): (name: string) => ProbeResult {
  return (name) => {
    const result = results.get(name);
    if (result === undefined)
      throw new ObservationError(refuse('ProbeUnanswered', { probe: name }));
    if (result.exit === 127)
      throw new ObservationError(refuse('ProbeToolMissing', { said: result.stderr.trim() }));
    return result;
  };
}

/** What a command printed that has no reason to fail. @throws ObservationError when it failed */
export function succeeded(name: string, result: ProbeResult): string {
  if (result.exit !== 0) throw failed(name, result);
  return result.stdout;
}

/** Only ENOENT says that something is not there; any other error says nothing. @throws ObservationError */
export function optional(name: string, result: ProbeResult): string | undefined {
  if (result.exit === 0) return result.stdout;
  // LC_ALL=C is set on the node, so this is the text; of each, where several files were read.
  const lines = result.stderr.trimEnd().split('\n');
  if (lines.every((line) => line.endsWith('No such file or directory'))) return undefined;
  throw failed(name, result);
}

/** What is listed of a folder; nothing where that is not there. What could be listed in part only says nothing. @throws ObservationError */
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

/** Why nothing is concluded from what a program printed. Pure. */
export const notUnderstood = (program: string, said: unknown): Refused =>
  refuse('OutputNotUnderstood', { program, said: String(said) });
