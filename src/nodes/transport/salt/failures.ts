import { refuse } from '../../../api/reasons.ts';
import { type NodeError, nodeError } from '../../errors.ts';
import type { SaltAccess } from './access.ts';

/** What went wrong on the way to a node, and what to do about it. None of these says what became of a job. */

/** The words of Salt 3007 in the place of what a function returns. */
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

/** The salt-master did not find Stowage's runner, or it threw. */
export const runnerFailed = (node: string, { url }: SaltAccess, said: string): NodeError =>
  nodeError('protocol', node, refuse('SaltRunnerFailed', { node, url, said: lastLine(said) }));

/** The salt-master has no accepted key of that name. */
export const noMinion = (node: string, minion: string): NodeError =>
  nodeError(
    'unreachable',
    node,
    refuse('MinionUnknown', { node, minion, setting: `{${node}: {minion: ID}}` }),
  );

/** Its key is accepted, and it does not answer. */
export const minionDown = (node: string, minion: string): NodeError =>
  nodeError('unreachable', node, refuse('MinionDown', { node, minion }));

/** Returns the answer of a function. Throws what Salt said in its place: there is no such function, it failed, or its answer is too long. */
export function functionFailed(
  node: string,
  minion: string,
  said: string,
  retcode: unknown,
): NodeError {
  if (said === WORDS.cut) return nodeError('protocol', node, refuse('SaltAnswerCut', { node }));
  if (said.includes(WORDS.unloadable))
    return nodeError('refused', node, refuse('SaltModuleUnloadable', { node, minion, said }));
  if (said.includes(WORDS.missing))
    return nodeError('refused', node, refuse('SaltModuleMissing', { node, minion }));
  if (said.startsWith(WORDS.otherArguments)) {
    const [first = ''] = said.split('\n');
    return nodeError('refused', node, refuse('SaltModuleOld', { node, minion, said: first }));
  }
  const why = { node, minion, code: String(retcode), said: lastLine(said) };
  return nodeError('protocol', node, refuse('SaltModuleFailed', why));
}

/** Where Python's tracebacks say what it was. */
const lastLine = (text: string) => text.trimEnd().split('\n').at(-1) ?? '';
