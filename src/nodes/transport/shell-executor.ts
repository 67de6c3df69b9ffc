import { refuse } from '../../api/reasons.ts';
import { batchPolls } from '../batch-poll.ts';
import { nodeError } from '../errors.ts';
import type { Executor, JobKey } from '../job.ts';
import { ForeignJobs } from '../jobs-directory.ts';
import {
  observeScript,
  pollScript,
  purgeScript,
  readObservation,
  readPurged,
  readStates,
  readSubjects,
  subjectsScript,
  submitScript,
} from '../protocol.ts';
import { SudoRefusal } from '../sudo.ts';
import type { Shell } from './shell.ts';

/** Maximum time (ms) of a round trip, beside the requested wait. */
const ROUND_TRIP = 30_000;

/** Creates an executor with the job protocol over a shell. */
export function createShellExecutor(shell: Shell): Executor {
  async function ask<T>(
    node: string,
    script: string,
    waitMs: number,
    read: (answer: string) => T,
  ): Promise<T> {
    const answer = await shell.run(node, script, waitMs + ROUND_TRIP);
    try {
      return read(answer);
    } catch (cause) {
      if (cause instanceof SudoRefusal || cause instanceof ForeignJobs) throw cause.on(node);
      const why = refuse('AnswerUnclear', { node, found: String(cause) });
      throw nodeError('protocol', node, why, cause);
    }
  }

  const poll = (node: string, keys: readonly JobKey[], waitMs: number) =>
    ask(node, pollScript(keys, waitMs), waitMs, (answer) => readStates(answer, keys.length));
  const pollNow = batchPolls((node, keys) => poll(node, keys, 0));

  return {
    observe: (node, probes) =>
      ask(node, observeScript(probes), 0, (answer) => readObservation(answer, probes)),
    submit: async (node, job, waitMs) => {
      const [state] = await ask(node, submitScript(node, job, waitMs), waitMs, (answer) =>
        readStates(answer, 1),
      );
      return state as NonNullable<typeof state>;
    },
    poll: async (node, keys, waitMs) => {
      if (keys.length === 0) return [];
      return waitMs > 0 ? poll(node, keys, waitMs) : pollNow(node, keys);
    },
    purge: (node, subject) => ask(node, purgeScript(subject), 0, readPurged),
    subjects: (node) => ask(node, subjectsScript(), 0, readSubjects),
    close: () => shell.close(),
  };
}
