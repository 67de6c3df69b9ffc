import { NodeError } from './errors.ts';
import type { NodeTransport } from './transport/shell.ts';

/** The part of a clock that is used here. */
export interface GateClock {
  /** ms since the epoch. */
  now(): number;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Sessions at once on one connection. sshd's MaxSessions is 10 by default. */
const PER_NODE = 8;
/** Sessions at once in all, those of silent nodes not counted: each is a process here. */
const IN_ALL = 64;
/** A node with sessions is silent when it has answered none of them for so long, in ms. */
const SILENT = 1000;
/** For how long a node that was not reached is left alone, in ms: the first time, doubling, and at most. */
const AWAY = { start: 1000, max: 60_000 };

interface NodeState {
  running: number;
  /** Of these, the ones that count among all. */
  counted: number;
  /** When it answered last, in ms since the epoch. */
  heard: number;
  /** Woken when a session ends. */
  waiting: (() => void)[];
  /** It answered last time. */
  reached: boolean;
  /** Why it did not, and when it is tried again. */
  failure: { error: NodeError; until: number; count: number; incarnation: string } | undefined;
}

/**
 * Keeps nodes that are slow or away from holding up others. To a node that never answered, or did not last time, there is
 * one session at a time; the others wait for what becomes of it, or fail at once with the error known already.
 * @param incarnationOf what is told of a node's life elsewhere: when it changes, a node that was away is tried at once
 */
export function limitNodes<Asked, Answer>(
  hands: NodeTransport<Asked, Answer>,
  clock: GateClock,
  incarnationOf = (_node: string) => '',
): NodeTransport<Asked, Answer> {
  const nodes = new Map<string, NodeState>();
  const slots = createSlots(IN_ALL);

  async function admit(state: NodeState, node: string): Promise<void> {
    for (;;) {
      if (state.failure?.incarnation !== incarnationOf(node)) state.failure = undefined;
      const { failure } = state;
      if (failure !== undefined && (state.running > 0 || clock.now() < failure.until))
        throw failure.error;
      if (state.running < (state.reached ? PER_NODE : 1)) break;
      await new Promise<void>((resolve) => state.waiting.push(resolve));
    }
    state.running++;
  }

  /** Resolves when the node was silent for so long. Rejects when the signal aborts. */
  async function silence(state: NodeState, signal: AbortSignal): Promise<void> {
    for (let since = clock.now(); ; since = state.heard) {
      await clock.sleep(since + SILENT - clock.now(), signal);
      if (state.heard <= since) return;
    }
  }

  return {
    async run(node, asked, timeoutMs) {
      const state = nodes.get(node) ?? newState();
      nodes.set(node, state);
      await admit(state, node);
      const giveBack = await slots(state);
      const ended = new AbortController();
      const life = incarnationOf(node);
      const began = clock.now();
      silence(state, ended.signal).then(giveBack, () => {});
      try {
        const answer = await hands.run(node, asked, timeoutMs);
        reached(state, clock.now());
        return answer;
      } catch (error) {
        const isNot =
          error instanceof NodeError && (error.code === 'unreachable' || error.code === 'refused');
        if (!isNot) reached(state, clock.now());
        // A node that answers others meanwhile is there: what was asked hangs, as on a file server that does not answer.
        else if (error.code === 'refused' || state.heard <= began)
          away(state, error, clock.now(), life);
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

function reached(state: NodeState, now: number): void {
  state.heard = now;
  state.reached = true;
  state.failure = undefined;
}

function away(state: NodeState, error: NodeError, now: number, incarnation: string): void {
  const { failure } = state;
  state.reached = false;
  // Sessions that broke together are one failure.
  const again = failure === undefined || now >= failure.until;
  const count = again ? (failure?.count ?? 0) + 1 : failure.count;
  const until = again ? now + Math.min(AWAY.start * 2 ** (count - 1), AWAY.max) : failure.until;
  state.failure = { error, until, count, incarnation };
}

const newState = (): NodeState => ({
  running: 0,
  counted: 0,
  heard: 0,
  waiting: [],
  reached: false,
  failure: undefined,
});

/**
 * At most `count` holders at once. The node that holds the fewest comes first, so that those of one that falls silent do
 * not come before all others'. Whoever holds one gives it back, once or more often.
 */
function createSlots(count: number): (state: NodeState) => Promise<() => void> {
  let free = count;
  const waiting: { state: NodeState; start: () => void }[] = [];

  function handOut(): void {
    while (free > 0 && waiting.length > 0) {
      const next = waiting.reduce((first, each) =>
        each.state.counted < first.state.counted ? each : first,
      );
      waiting.splice(waiting.indexOf(next), 1);
      next.state.counted++;
      free--;
      next.start();
    }
  }

  return async (state) => {
    await new Promise<void>((start) => {
      waiting.push({ state, start });
      handOut();
    });
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      state.counted--;
      free++;
      handOut();
    };
  };
}
