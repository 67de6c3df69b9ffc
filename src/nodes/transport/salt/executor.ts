import { refuse } from '../../../api/reasons.ts';
import { batchPolls } from '../../batch-poll.ts';
import { NodeError, nodeError } from '../../errors.ts';
import type { Executor, Job, JobKey } from '../../job.ts';
import { type LimiterClock, limitNodes } from '../../node-limiter.ts';
import type { SaltAccess } from './access.ts';
import { createSaltCaller, PURGE_FUNCTION, type SaltCall } from './caller.ts';
import { readSaltEvents } from './events.ts';
import { createEnds } from './job-completions.ts';
import { ModuleRefusal } from './refusal.ts';
import { argvsOf, jobArguments } from './request.ts';
import {
  readAnswer,
  readObservation,
  readPurged,
  readStates,
  readSubjects,
  readSubmitted,
} from './response.ts';
import { createSaltSession } from './session.ts';

export interface SaltExecutorOptions {
  access: SaltAccess;
  /** Returns the ID of a node's minion. */
  minionOf(node: string): string;
  /** Throws a NodeError if nothing may be done on the node (any more). */
  check?: ((node: string) => void) | undefined;
  /**
   * Incarnation of a node by other sources: when it changes, an unreachable node is tried at once.
   */
  incarnationOf?: (node: string) => string;
  clock: LimiterClock;
}

/**
 * Maximum time (ms) of a round trip, beside the requested wait: Salt needs 15 s for a minion that
 * is down.
 */
const ROUND_TRIP = 40_000;

/**
 * Creates an executor over salt-api: the module's functions, and Salt's events for the ends of
 * jobs.
 */
export function createSaltExecutor(options: SaltExecutorOptions): Executor {
  const { access, minionOf, check, incarnationOf, clock } = options;
  const closed = new AbortController();
  const session = createSaltSession(access, clock);
  const transport = limitNodes(
    createSaltCaller({ access, session, minionOf, check }),
    clock,
    incarnationOf,
  );
  // Created on demand: observations need no events, and CLI commands only observe.
  let started: ReturnType<typeof createEnds> | undefined;
  const ends = () => {
    started ??= createEnds({
      events: readSaltEvents({
        session,
        sleep: (ms, signal) => clock.sleep(ms, signal),
        signal: closed.signal,
      }),
      start: async (node, call) => {
        const answer = await transport.run(node, { ...call, detached: true }, ROUND_TRIP);
        return 'jid' in answer ? answer.jid : '';
      },
      minionOf,
      clock,
      signal: closed.signal,
    });
    return started;
  };

  async function ask<T>(node: string, call: SaltCall, read: (answer: unknown) => T): Promise<T> {
    const answer = await transport.run(node, call, call.waitMs + ROUND_TRIP);
    return understood(node, minionOf(node), () =>
      read(readAnswer('ret' in answer ? answer.ret : undefined)),
    );
  }

  const poll = (node: string, keys: readonly JobKey[], waitMs: number) =>
    ask(node, pollCall(keys, waitMs), (answer) => readStates(answer, keys.length));
  const pollNow = batchPolls((node, keys) => poll(node, keys, 0));

  return {
    observe: (node, probes) =>
      ask(node, { fun: 'observe', args: { probes: argvsOf(probes) }, waitMs: 0 }, (answer) =>
        readObservation(answer, probes),
      ),
    // A job that ends soon is reported with the answer: before each event, salt-api checks its
    // reader's token at the salt-master.
    submit: (node, job, waitMs) =>
      ask(node, submitCall(job, waitMs), (answer) => readSubmitted(answer, job)),
    async poll(node, keys, waitMs) {
      if (keys.length === 0) return [];
      if (waitMs === 0) return pollNow(node, keys);
      const known = await ends().wait(node, keys, waitMs);
      if (known === 'unheard') return poll(node, keys, waitMs);
      if (known === 'running') return keys.map(() => ({ state: 'running' as const }));
      return pollNow(node, keys);
    },
    purge: (node, subject) =>
      ask(node, { fun: PURGE_FUNCTION, args: { subject }, waitMs: 0 }, readPurged),
    subjects: (node) => ask(node, { fun: 'subjects', args: {}, waitMs: 0 }, readSubjects),
    async close() {
      closed.abort();
      await transport.close();
    },
  };
}

function submitCall(job: Job, waitMs: number): SaltCall {
  return { fun: 'submit', args: { ...jobArguments(job), wait: waitMs / 1000 }, waitMs };
}

export function pollCall(keys: readonly JobKey[], waitMs: number): SaltCall {
  const args = { keys: keys.map(({ subject, id }) => [subject, id]), wait: waitMs / 1000 };
  return { fun: 'poll', args, waitMs };
}

function understood<T>(node: string, minion: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof ModuleRefusal) throw cause.on(node, { minion });
    if (cause instanceof NodeError) throw cause;
    const why = refuse('ModuleAnswerUnclear', { node, found: String(cause), minion });
    throw nodeError('protocol', node, why, cause);
  }
}
