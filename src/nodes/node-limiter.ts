import { NodeError } from './errors.ts';
import type { NodeTransport } from './transport/shell.ts';

export interface LimiterClock {
  /** Time of this process, in ms, which never steps. */
  now(): number;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Maximum concurrent sessions on one connection. sshd's MaxSessions is 10 by default. */
const PER_NODE = 8;
/** Maximum concurrent sessions in total, without those of silent nodes: each is a process here. */
const IN_ALL = 64;
/** Time (ms) after which a node with sessions is silent if it answered none of them. */
const SILENT = 1000;
/** Backoff (ms) after a failure to reach a node: at first, doubling, and at most. */
const AWAY = { start: 1000, max: 60_000 };

interface NodeState {
  running: number;
  /** Running sessions that count for the total. */
  counted: number;
  /** Time of the last answer, by the clock. */
  heard: number;
  /** Callbacks for the end of a session. */
  waiting: (() => void)[];
  /** True if the node answered last time. */
  reached: boolean;
  /** Last failure, and the time of the next attempt. */
  failure: { error: NodeError; until: number; count: number; incarnation: string } | undefined;
}

/**
 * Keeps slow or unreachable nodes from delaying others. A node that never answered, or did not last
 * time, gets one session at a time. Other requests wait for its result, or fail at once with the
 * known error.
 * @param incarnationOf incarnation of a node by other sources: when it changes, an unreachable node
 * is tried at once
 */
export function limitNodes<Asked, Answer>(
  transport: NodeTransport<Asked, Answer>,
  clock: LimiterClock,
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

  /** Resolves when the node was silent for that time. Rejects when the signal aborts. */
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
      const release = await slots(state);
      const ended = new AbortController();
      const incarnation = incarnationOf(node);
      const began = clock.now();
      silence(state, ended.signal).then(release, () => {});
      try {
        const answer = await transport.run(node, asked, timeoutMs);
        reached(state, clock.now());
        return answer;
      } catch (error) {
        const isNot =
          error instanceof NodeError && (error.code === 'unreachable' || error.code === 'refused');
        if (!isNot) reached(state, clock.now());
        // A node that answers others meanwhile is reachable: the request hangs, as on a silent file
        // server.
        else if (error.code === 'refused' || state.heard <= began)
          away(state, error, clock.now(), incarnation);
        throw error;
      } finally {
        ended.abort();
        release();
        state.running--;
        for (const wake of state.waiting.splice(0)) wake();
      }
    },
    close: () => transport.close(),
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
 * Limits the holders to `count` at once. The node that holds the fewest comes first, so that those
 * of a node that falls silent do not come before all others. A holder calls the returned function
 * to release its slot, once or more often.
 */
function createSlots(count: number): (state: NodeState) => Promise<() => void> {
  let free = count;
  const waiting: { state: NodeState; start: () => void }[] = [];

  function dispatch(): void {
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
      dispatch();
    });
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      state.counted--;
      free++;
      dispatch();
    };
  };
}
