import { NodeError } from '../../errors.ts';
import type { SaltAccess } from './access.ts';

/** What went wrong on the way to a node, and what to do about it. None of these says what became of a job. */

export const apiUnreachable = (node: string, { url }: SaltAccess, cause: Error): NodeError =>
  new NodeError(
    'unreachable',
    node,
    `node ${node} is not reached: salt-api at ${url}: ${cause.message}`,
    {
      cause,
      hint: 'Check that salt-api and salt-master run, and that the certificate is signed by what --salt-ca-file holds.',
    },
  );

export const loginRefused = (
  node: string,
  { url, user, eauth, secretFile }: SaltAccess,
  cause: Error,
): NodeError =>
  new NodeError(
    'refused',
    node,
    `node ${node}: salt-api at ${url} does not log ${user} in with eauth ${eauth}: ${cause.message}`,
    {
      cause,
      hint: `Check the secret in ${secretFile}, and that external_auth of the salt-master has ${eauth} with ${user}.`,
    },
  );

export const notAllowed = (
  node: string,
  { user, eauth }: SaltAccess,
  fun: string,
  cause: Error,
): NodeError =>
  new NodeError(
    'refused',
    node,
    `node ${node}: Salt does not let ${user} run ${fun}: ${cause.message}`,
    {
      cause,
      hint: `On the salt-master, external_auth.${eauth}.${user} must have @stowage, and netapi_enable_clients runner: salt/master.d/stowage.conf is a sample.`,
    },
  );

/** The salt-master did not find Stowage's runner, or it threw. */
export const runnerFailed = (node: string, { url }: SaltAccess, said: string): NodeError =>
  new NodeError(
    'protocol',
    node,
    `node ${node}: Stowage's runner behind salt-api at ${url} failed: ${lastLine(said)}`,
    {
      hint: 'runner_dirs of the salt-master must name the folder _runners of salt/ of this Stowage.',
    },
  );

/** The salt-master has no accepted key of that name. */
export const noMinion = (node: string, minion: string): NodeError =>
  new NodeError('unreachable', node, `node ${node}: the salt-master knows no minion ${minion}`, {
    hint: `Check its key: salt-key -l all. If the minion of ${node} has another id, say so in the configuration: nodes: {${node}: {minion: ID}}.`,
  });

/** Its key is accepted, and it does not answer. */
export const minionDown = (node: string, minion: string): NodeError =>
  new NodeError(
    'unreachable',
    node,
    `node ${node}: minion ${minion} does not answer the salt-master`,
    {
      hint: `Check that the node is up and that salt-minion runs there: salt ${minion} test.ping`,
    },
  );

/** The answer was longer than an event of Salt's may be. */
export const trimmed = (node: string): NodeError =>
  new NodeError('protocol', node, `node ${node}: Salt cut its answer off`, {
    hint: 'Set max_event_size of the salt-master higher.',
  });

/** It is Salt on the minion that speaks, not the module: it did not find the function, or the function threw. */
export function functionFailed(
  node: string,
  minion: string,
  said: string,
  retcode: unknown,
): NodeError {
  const sync = `On the salt-master: salt ${minion} saltutil.sync_modules; and salt/ of this Stowage must be in its file_roots.`;
  if (said.includes('is not available') || said.includes('__virtual__ returned False')) {
    const why = said.includes('__virtual__') ? `cannot be loaded: ${said}` : 'is missing';
    return new NodeError(
      'refused',
      node,
      `node ${node}: Stowage's Salt module on minion ${minion} ${why}`,
      {
        hint: sync,
      },
    );
  }
  if (said.startsWith('Passed invalid arguments')) {
    return new NodeError(
      'refused',
      node,
      `node ${node}: Stowage's Salt module on minion ${minion} is another version: ${firstLine(said)}`,
      { hint: sync },
    );
  }
  return new NodeError(
    'protocol',
    node,
    `node ${node}: Stowage's Salt module on minion ${minion} failed (${retcode}): ${lastLine(said)}`,
    { hint: `The log of salt-minion on ${node} has all of it.` },
  );
}

const firstLine = (text: string) => text.split('\n')[0] ?? '';
/** Where Python's tracebacks say what it was. */
const lastLine = (text: string) => text.trimEnd().split('\n').at(-1) ?? '';
