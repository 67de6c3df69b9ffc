import type { ProbeResult } from '../nodes/job.ts';

/** An answer from which nothing safe can be concluded. */
export class ObservationError extends Error {
  override readonly name = 'ObservationError';
}

/** @throws ObservationError where there is no answer, or the node lacks the program */
export function answersOf(
  results: ReadonlyMap<string, ProbeResult>,
): (name: string) => ProbeResult {
  return (name) => {
    const result = results.get(name);
    if (result === undefined) throw new ObservationError(`no answer for ${name}`);
    if (result.exit === 127)
      throw new ObservationError(`the node lacks a tool: ${result.stderr.trim()}`);
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
    `reading ${name} failed with status ${result.exit}: ${result.stderr.trim()}`,
  );
}
