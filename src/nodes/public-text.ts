import type { Explanation, Reason } from '../api/reasons.ts';
import type { FailedState } from './job.ts';
import { describeFailure } from './job-text.ts';

/** An absolute path, where a word or a quotation begins; no part of a URL. */
const PATH = /(?<=^|[\s'"(,=])\/[^\s'",;()]+/g;

/** The node's list, which documents name. */
const DOCUMENTED = ['/etc/stowage/sources.conf'];

/** Replaces the paths of a node by an ellipsis, for people who may not administer it. `known`: what they named themselves. */
export const withoutPaths = (text: string, known: readonly string[] = []): string =>
  text.replace(PATH, (path) => {
    const end = /[:.]*$/.exec(path)?.[0] ?? '';
    const bare = path.slice(0, path.length - end.length);
    return DOCUMENTED.includes(bare) || known.includes(bare) ? path : `…${end}`;
  });

/** An explanation for people who may not administer the node. `known`: paths that they named themselves. */
export function publicly<T extends Explanation>(told: T, known: readonly string[] = []): T {
  const message = withoutPaths(told.message, known);
  return { ...told, message, ...(told.detail && { detail: withoutPathsIn(told.detail, known) }) };
}

function withoutPathsIn({ code, parameters }: Reason, known: readonly string[]): Reason {
  const told = Object.entries(parameters).map(([name, text]) => [name, withoutPaths(text, known)]);
  return { code, parameters: Object.fromEntries(told) };
}

/** Returns why a job did not do what it was to do, without the command, which names paths and other volumes of the node. */
export function publicFailure(state: FailedState, known: readonly string[] = []): string {
  if (state.state === 'guarded' || state.state === 'died')
    return withoutPaths(describeFailure(state), known);
  const said = lastLine(state.output) || 'it printed nothing';
  return withoutPaths(
    `the step "${state.step.name}" failed with status ${state.exit}: ${said}`,
    known,
  );
}

/** Returns the last line that a job printed, without what it reported for programs. */
export const lastLine = (output: string): string =>
  output
    .trim()
    .split('\n')
    .findLast((line) => line !== '' && !/^stowage-(progress|waiting|missing) /.test(line)) ?? '';
