import { parseReason } from '../../../api/reasons.ts';
import type { Job, JobState, Probe, ProbeResult, StepFacts } from '../../job.ts';
import { ModuleRefusal } from './refusal.ts';

/** Readers of the module's return values. Each throws a RangeError for an unexpected value. */

/**
 * Returns the answer of the module.
 * @throws ModuleRefusal if the module refused
 */
export function readAnswer(returned: unknown): unknown {
  const { answer, refused, found, command } = object(returned, 'a return of the module');
  if (refused !== undefined)
    throw new ModuleRefusal(String(refused), String(found), String(command ?? ''));
  if (answer === undefined) throw new RangeError('neither an answer nor a refusal');
  return answer;
}

export function readObservation(
  answer: unknown,
  probes: readonly Probe[],
): Map<string, ProbeResult> {
  const all = list(answer);
  if (all.length !== probes.length)
    throw new RangeError(`${all.length} answers for ${probes.length} probes`);
  return new Map(
    probes.map(({ name }, index) => {
      const [exit, stdout, stderr] = list(all[index]);
      return [name, { exit: status(exit), stdout: decode(stdout), stderr: decode(stderr) }];
    }),
  );
}

export function readStates(answer: unknown, count: number): JobState[] {
  const all = list(answer);
  if (all.length !== count) throw new RangeError(`${all.length} states for ${count} jobs`);
  return all.map(readState);
}

/** Returns the state of a submitted job, with the results of its `finalProbes` if there are any. */
export function readSubmitted(answer: unknown, { finalProbes }: Job): JobState {
  const [state] = readStates(answer, 1) as [JobState];
  const [{ seen } = {}] = list(answer) as { seen?: unknown }[];
  if (state.state !== 'succeeded' || finalProbes === undefined || seen === undefined) return state;
  return { ...state, seen: readObservation(seen, finalProbes) };
}

export function readPurged(answer: unknown): boolean {
  if (typeof answer !== 'boolean') throw new RangeError('neither true nor false');
  return answer;
}

export const readSubjects = (answer: unknown): string[] => list(answer).map(text);

function readState(value: unknown): JobState {
  const { state, exit, output, refusal, reason, ...rest } = object(value, "a job's state");
  const step = rest.step === undefined ? undefined : readStep(rest.step);
  const known = step ?? { name: 'unknown', command: '' };
  switch (state) {
    case 'not-found':
    case 'succeeded':
      return { state };
    case 'running':
      return { state, ...(step && { step }), ...(typeof output === 'string' ? { output } : {}) };
    case 'died':
      return step === undefined ? { state } : { state, step };
    case 'failed':
    case 'raced':
      return { state, step: known, exit: status(exit), output: text(output) };
    case 'guarded': {
      // A module of an earlier version returns no reason.
      const why = typeof reason === 'string' ? parseReason(reason) : undefined;
      const refused = { refusal: text(refusal), ...(why && { reason: why }) };
      return { state, step: known, ...refused, output: text(output) };
    }
    default:
      throw new RangeError(`not a job's state: ${JSON.stringify(state)}`);
  }
}

function readStep(value: unknown): StepFacts {
  const { name, command } = object(value, 'a step');
  return { name: text(name), command: text(command) };
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RangeError(`not ${what}: ${JSON.stringify(value)?.slice(0, 200)}`);
  }
  return value as Record<string, unknown>;
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value))
    throw new RangeError(`not a list: ${JSON.stringify(value)?.slice(0, 200)}`);
  return value;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new RangeError(`not a string: ${JSON.stringify(value)}`);
  return value;
}

function status(value: unknown): number {
  if (!Number.isInteger(value))
    throw new RangeError(`not an exit status: ${JSON.stringify(value)}`);
  return value as number;
}

const decode = (value: unknown): string => Buffer.from(text(value), 'base64').toString('utf8');
