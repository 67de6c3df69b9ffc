import { NodeError } from './errors.ts';
import type { Hands } from './shell.ts';

/** The part of a clock that is used here. */
export interface GateClock {
  /** ms since the epoch. */
  now(): number;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Sessions at once on one connection. sshd's MaxSessions is 10 by default. */
const PER_NODE = 8;
/** Sessions at once in all, those of slow nodes not counted: each is a process here. */
const IN_ALL = 64;
/** A session counts as slow after this, in ms: longer than any that an executor's caller lets a node hold back. */
const SLOW = 5000;
/** For how long a node that was not reached is left alone, in ms: the first time, doubling, and at most. */
const AWAY = { start: 1000, max: 60_000 };

interface NodeState {
  running: number;
  /** Woken when a session ends. */
  waiting: (() => void)[];
  /** It answered last time. */
  reached: boolean;
  /** Why it did not, and when it is tried again. */
  failure: { error: NodeError; until: number; count: number } | undefined;
}

/**
 * Keeps nodes that are slow or away from holding up others. To a node that never answered, or did not last time, there is
 * one session at a time; the others wait for what becomes of it, or fail at once with the error known already.
 */
export function limitNodes<Asked, Answer>(
  hands: Hands<Asked, Answer>,
  clock: GateClock,
): Hands<Asked, Answer> {
  const nodes = new Map<string, NodeState>();
  const slots = createSlots(IN_ALL);

  async function admit(state: NodeState): Promise<void> {
    for (;;) {
      const { failure } = state;
      if (failure !== undefined && (state.running > 0 || clock.now() < failure.until)) throw failure.error;
      if (state.running < (state.reached ? PER_NODE : 1)) break;
      await new Promise<void>((resolve) => state.waiting.push(resolve));
    }
    state.running++;
  }

  return {
    async run(node, asked, timeoutMs) {
      const state = nodes.get(node) ?? { running: 0, waiting: [], reached: false, failure: undefined };
      nodes.set(node, state);
      await admit(state);
      const giveBack = await slots();
      const ended = new AbortController();
      clock.sleep(SLOW, ended.signal).then(giveBack, () => {});
      try {
        const answer = await hands.run(node, asked, timeoutMs);
        reached(state);
        return answer;
      } catch (error) {
        if (error instanceof NodeError && (error.code === 'unreachable' || error.code === 'refused')) {
          away(state, error, clock.now());
        } else {
          reached(state);
        }
        throw error;
      } finally {
        ended.abort();
        giveBack();
        state.running--;
        for (const wake of state.waiting.splice(0)) wake();
      }
    },
    close: () => hands.close(),
  };
}

function reached(state: NodeState): void {
  state.reached = true;
  state.failure = undefined;
}

function away(state: NodeState, error: NodeError, now: number): void {
  const { failure } = state;
  state.reached = false;
  // Sessions that broke together are one failure.
  const again = failure === undefined || now >= failure.until;
  const count = again ? (failure?.count ?? 0) + 1 : failure.count;
  const until = again ? now + Math.min(AWAY.start * 2 ** (count - 1), AWAY.max) : failure.until;
  state.failure = { error, until, count };
}

/** At most `count` holders at once, first come, first served; whoever holds one gives it back, once or more often. */
function createSlots(count: number): () => Promise<() => void> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async () => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = waiting.shift();
      if (next) next();
      else free++;
    };
  };
}
