import { refuse } from '../../api/reasons.ts';
import { fromBytes } from '../answer.ts';
import { batchPolls } from '../batch-poll.ts';
import { nodeError } from '../errors.ts';
import type { Executor, JobKey } from '../job.ts';
import { MODULE_VERSION, PURGE_FUNCTION } from './salt/caller.ts';
import { ModuleRefusal } from './salt/refusal.ts';
import { argvsOf, jobArguments } from './salt/request.ts';
import {
  readAnswer,
  readObservation,
  readPurged,
  readStates,
  readSubjects,
  readSubmitted,
} from './salt/response.ts';
import type { Shell } from './shell.ts';

/** Maximum time (ms) of a round trip, beside the requested wait. */
const ROUND_TRIP = 30_000;

/** Documentation of the place of salt/ on such nodes. */
const PAGE = { page: 'docs/ssh-guard.md' };

/**
 * Creates an executor for nodes where ssh runs only salt/ssh_guard.py, whatever the client
 * requests. Requests and answers are those of the Salt module, in JSON.
 */
export function createGuardExecutor(shell: Shell): Executor {
  async function ask<T>(
    node: string,
    fun: string,
    args: Readonly<Record<string, unknown>>,
    waitMs: number,
    read: (answer: unknown) => T,
  ): Promise<T> {
    const request = { function: fun, arguments: { node, version: MODULE_VERSION, ...args } };
    const answer = await shell.run(node, `${JSON.stringify(request)}\n`, waitMs + ROUND_TRIP);
    try {
      return read(readAnswer(JSON.parse(fromBytes(answer))));
    } catch (cause) {
      if (cause instanceof ModuleRefusal) throw cause.on(node, PAGE);
      const why = refuse('ModuleAnswerUnclear', { node, found: String(cause), ...PAGE });
      throw nodeError('protocol', node, why, cause);
    }
  }

  const poll = (node: string, keys: readonly JobKey[], waitMs: number) =>
    ask(
      node,
      'poll',
      { keys: keys.map(({ subject, id }) => [subject, id]), wait: waitMs / 1000 },
      waitMs,
      (answer) => readStates(answer, keys.length),
    );
  const pollNow = batchPolls((node, keys) => poll(node, keys, 0));

  return {
    observe: (node, probes) =>
      ask(node, 'observe', { probes: argvsOf(probes) }, 0, (answer) =>
        readObservation(answer, probes),
      ),
    submit(node, job, waitMs) {
      const args = { ...jobArguments(job), wait: waitMs / 1000 };
      return ask(node, 'submit', args, waitMs, (answer) => readSubmitted(answer, job));
    },
    poll: async (node, keys, waitMs) => {
      if (keys.length === 0) return [];
      return waitMs > 0 ? poll(node, keys, waitMs) : pollNow(node, keys);
    },
    purge: (node, subject) => ask(node, PURGE_FUNCTION, { subject }, 0, readPurged),
    subjects: (node) => ask(node, 'subjects', {}, 0, readSubjects),
    close: () => shell.close(),
  };
}
