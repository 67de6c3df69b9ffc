import type { Explanation, Reason } from '../api/reasons.ts';
import type { FailedState } from './job.ts';
import { describeFailure } from './job-text.ts';

/** Absolute path, at the start of a word or a quotation; no part of a URL. */
const PATH = /(?<=^|[\s'"(,=])\/[^\s'",;()]+/g;

/** Paths that documents name: the node's list of sources. */
const DOCUMENTED = ['/etc/stowage/sources.conf'];

/**
 * Replaces the paths of a node by an ellipsis, for users who may not administer it. `known`: paths
 * that these users named.
 */
export const withoutPaths = (text: string, known: readonly string[] = []): string =>
  text.replace(PATH, (path) => {
    const end = /[:.]*$/.exec(path)?.[0] ?? '';
    const bare = path.slice(0, path.length - end.length);
    return DOCUMENTED.includes(bare) || known.includes(bare) ? path : `…${end}`;
  });

/**
 * Returns an explanation for users who may not administer the node. `known`: paths that they named.
 */
export function publicly<T extends Explanation>(explanation: T, known: readonly string[] = []): T {
  const message = withoutPaths(explanation.message, known);
  return {
    ...explanation,
    message,
    ...(explanation.detail && { detail: withoutPathsIn(explanation.detail, known) }),
  };
}

function withoutPathsIn({ code, parameters }: Reason, known: readonly string[]): Reason {
  const redacted = Object.entries(parameters).map(([name, text]) => [
    name,
    withoutPaths(text, known),
  ]);
  return { code, parameters: Object.fromEntries(redacted) };
}

/**
 * Returns why a job did not complete, without the command, which names paths and other volumes of
 * the node.
 */
export function publicFailure(state: FailedState, known: readonly string[] = []): string {
  if (state.state === 'guarded' || state.state === 'died')
    return withoutPaths(describeFailure(state), known);
  const output = failureLine(state.output) || 'it printed nothing';
  return withoutPaths(
    `the step "${state.step.name}" failed with status ${state.exit}: ${output}`,
    known,
  );
}

/** Beginning of a message of a program for file systems, which prints facts after it, too. */
const MESSAGE = /^(?:mkfs\.\w+|mke2fs|resize2fs|e2fsck|tune2fs|xfs_\w+|mount): /;

/**
 * Returns the line that shows why a job failed: the last message of a program for file systems if
 * there is one, else the last line.
 */
export const failureLine = (output: string): string =>
  output
    .split('\n')
    .findLast((line) => MESSAGE.test(line))
    ?.trim() ?? lastLine(output);

/** Returns the last line that a job printed, except lines for programs. */
export const lastLine = (output: string): string =>
  output
    .trim()
    .split('\n')
    .findLast((line) => line !== '' && !/^stowage-(progress|waiting|missing) /.test(line)) ?? '';
