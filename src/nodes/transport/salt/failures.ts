import { refuse } from '../../../api/reasons.ts';
import { type NodeError, nodeError } from '../../errors.ts';
import type { SaltAccess } from './access.ts';

/** Errors on the way to a node, with their remedies. None of these shows the outcome of a job. */

/** Messages of Salt 3007 in place of a function's return value. */
const WORDS = {
  missing: 'is not available',
  unloadable: '__virtual__ returned False',
  otherArguments: 'Passed invalid arguments',
  cut: 'VALUE_TRIMMED',
};

export const apiUnreachable = (node: string, { url }: SaltAccess, cause: Error): NodeError =>
  nodeError(
    'unreachable',
    node,
    refuse('SaltUnreachable', { node, url, said: cause.message }),
    cause,
  );

export const loginRefused = (
  node: string,
  { url, user, eauth, secretFile: file }: SaltAccess,
  cause: Error,
): NodeError =>
  nodeError(
    'refused',
    node,
    refuse('SaltLoginRefused', { node, url, user, eauth, file, said: cause.message }),
    cause,
  );

export const notAllowed = (
  node: string,
  { user, eauth }: SaltAccess,
  fun: string,
  cause: Error,
): NodeError =>
  nodeError(
    'refused',
    node,
    refuse('SaltRightMissing', { node, user, eauth, function: fun, said: cause.message }),
    cause,
  );

/** Returns the error for Stowage's runner if it is missing, or threw. */
export const runnerFailed = (node: string, { url }: SaltAccess, output: string): NodeError =>
  nodeError('protocol', node, refuse('SaltRunnerFailed', { node, url, said: lastLine(output) }));

/** Returns the error for a minion without an accepted key. */
export const noMinion = (node: string, minion: string): NodeError =>
  nodeError(
    'unreachable',
    node,
    refuse('MinionUnknown', { node, minion, setting: `{${node}: {minion: ID}}` }),
  );

/** Returns the error for a minion with an accepted key that does not answer. */
export const minionDown = (node: string, minion: string): NodeError =>
  nodeError('unreachable', node, refuse('MinionDown', { node, minion }));

/**
 * Returns the error for a message of Salt in place of a function's answer: the function is missing
 * or failed, or its answer is too long.
 */
export function functionFailed(
  node: string,
  minion: string,
  output: string,
  retcode: unknown,
): NodeError {
  if (output === WORDS.cut) return nodeError('protocol', node, refuse('SaltAnswerCut', { node }));
  if (output.includes(WORDS.unloadable))
    return nodeError(
      'refused',
      node,
      refuse('SaltModuleUnloadable', { node, minion, said: output }),
    );
  if (output.includes(WORDS.missing))
    return nodeError('refused', node, refuse('SaltModuleMissing', { node, minion }));
  if (output.startsWith(WORDS.otherArguments)) {
    const [first = ''] = output.split('\n');
    return nodeError('refused', node, refuse('SaltModuleOld', { node, minion, said: first }));
  }
  const why = { node, minion, code: String(retcode), said: lastLine(output) };
  return nodeError('protocol', node, refuse('SaltModuleFailed', why));
}

/** Returns the last line, in which Python's tracebacks have the error. */
const lastLine = (text: string) => text.trimEnd().split('\n').at(-1) ?? '';
