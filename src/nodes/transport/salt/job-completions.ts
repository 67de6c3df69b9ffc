import type { JobKey } from '../../job.ts';
import type { LimiterClock } from '../../node-limiter.ts';
import type { SaltCall } from './caller.ts';
import type { SaltEvents } from './events.ts';

export interface EndsOptions {
  events: SaltEvents;
  /** Starts a function on a node, and returns the ID of Salt's job. Throws NodeError. */
  start(node: string, call: SaltCall): Promise<string>;
  minionOf(node: string): string;
  clock: LimiterClock;
  /** Ends all waiting. */
  signal: AbortSignal;
}

/** Waits for the ends of jobs. The event of a Salt job that waits on the node reports each. */
export interface Ends {
  /**
   * Waits until one of the jobs may have ended. `ask`: poll the jobs. `running`: none has ended, as
   * far as known. `unheard`: no events arrive, and waiting proves nothing.
   */
  wait(
    node: string,
    keys: readonly JobKey[],
    waitMs: number,
  ): Promise<'ask' | 'running' | 'unheard'>;
}

/** Time (s) that a Salt job waits on its node for the end of a job; then another one does. */
const HELD = 300;
/**
 * Time (ms) to trust events alone: a minion that was restarted returns nothing for what it had
 * begun.
 */
const BELIEVED = 20_000;

interface Watched {
  /** Resolves once the node has to be polled. */
  returned: Promise<void>;
  /** Time of the last answer of the node, by the clock. */
  since: number;
}

export function createEnds({ events, start, minionOf, clock, signal }: EndsOptions): Ends {
  const watched = new Map<string, Watched>();
  const idOf = (node: string, { subject, id }: JobKey) => `${node}/${subject}/${id}`;

  /** Starts a Salt job that ends with the node's job. */
  async function watch(node: string, key: JobKey): Promise<Watched> {
    const args = { keys: [[key.subject, key.id]], wait: HELD };
    const jid = await start(node, { fun: 'poll', args, waitMs: 0 });
    const over = AbortSignal.any([signal, AbortSignal.timeout((HELD + 60) * 1000)]);
    const id = idOf(node, key);
    const returned = events.returned({ jid, minion: minionOf(node) }, over).finally(() => {
      if (watched.get(id)?.returned === returned) watched.delete(id);
    });
    const found = { returned, since: clock.now() };
    watched.set(id, found);
    return found;
  }

  async function sleep(ms: number): Promise<void> {
    await clock.sleep(ms, signal).catch(() => {});
  }

  return {
    async wait(node, keys, waitMs) {
      if (!events.connected()) return 'unheard';
      const all = await Promise.all(
        keys.map(async (key) => watched.get(idOf(node, key)) ?? watch(node, key)),
      );
      const ended = all.map(({ returned }) => returned.then(() => 'ask' as const));
      const now = clock.now();
      const result = await Promise.race([...ended, sleep(waitMs).then(() => 'running' as const)]);
      const stale = !events.connected() || all.some(({ since }) => now - since > BELIEVED);
      if (result === 'running' && !stale) return 'running';
      for (const each of all) each.since = clock.now();
      return 'ask';
    },
  };
}
