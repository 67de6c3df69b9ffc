import type { SaltSession } from './session.ts';

/** Return of a minion from a Salt job. The returned value is omitted: the node is polled anyway. */
export interface SaltReturn {
  jid: string;
  minion: string;
}

export interface SaltEvents {
  /** Reports whether the stream is up: only then every return certainly arrives by it. */
  connected(): boolean;
  /**
   * Resolves once the minion has returned from the job, also if it already had, and when the signal
   * aborts.
   */
  returned(found: SaltReturn, signal: AbortSignal): Promise<void>;
}

export interface SaltEventsOptions {
  session: Pick<SaltSession, 'stream'>;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Ends the reading of events. */
  signal: AbortSignal;
}

/** Time (ms) after which a silent stream is opened again: a dead connection is silent too. */
const SILENCE = 60_000;
/** Backoff (ms) between attempts: at first, doubling, and at most. */
const RETRY = { start: 250, max: 10_000 };
/** Maximum number of early returns kept: one may arrive before the answer that names its job. */
const KEPT = 1000;
/** Maximum characters of one record; max_event_size of the salt-master is 1 MB by default. */
const RECORD_LIMIT = 8 << 20;
/** Tag of a return. A job's ID has 20 digits, a minion's at most 253 characters. */
const TAG = /^tag: salt\/job\/(\d{1,32})\/ret\/(\S{1,253})$/m;

/**
 * Reads the events of salt-api (GET /events) until the signal aborts, and opens the stream again
 * whenever it ends.
 */
export function readSaltEvents({ session, sleep, signal }: SaltEventsOptions): SaltEvents {
  const waiting = new Map<string, () => void>();
  const early = new Set<string>();
  let up = false;

  function take(key: string): void {
    const hear = waiting.get(key);
    if (hear !== undefined) {
      hear();
      return;
    }
    early.add(key);
    const [oldest] = early;
    if (early.size > KEPT && oldest !== undefined) early.delete(oldest);
  }

  async function read(): Promise<void> {
    let pause = RETRY.start;
    while (!signal.aborted) {
      try {
        const chunks = session.stream({ method: 'GET', path: '/events', timeoutMs: SILENCE });
        for await (const record of records(chunks)) {
          if (signal.aborted) return;
          up = true;
          pause = RETRY.start;
          const found = readReturn(record);
          if (found !== undefined) take(keyOf(found));
        }
      } catch {
        // The next request reports the error; here the stream is opened again.
      }
      up = false;
      await sleep(pause, signal).catch(() => {});
      pause = Math.min(pause * 2, RETRY.max);
    }
  }
  void read();

  return {
    connected: () => up,
    async returned(wanted, given) {
      const key = keyOf(wanted);
      if (early.delete(key)) return;
      try {
        await new Promise<void>((resolve) => {
          waiting.set(key, resolve);
          given.addEventListener('abort', () => resolve(), { once: true });
          if (given.aborted) resolve();
        });
      } finally {
        waiting.delete(key);
      }
    },
  };
}

/**
 * Returns the key of a return. The salt-master authenticates minions, so each returns only from its
 * own jobs.
 */
const keyOf = ({ jid, minion }: SaltReturn) => `${jid} ${minion}`;

/**
 * Yields the records of a stream of server-sent events, without the empty line that ends each.
 * Throws for a record that does not end.
 */
export async function* records(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    const whole = rest.split('\n\n');
    rest = whole.pop() ?? '';
    yield* whole;
    if (rest.length > RECORD_LIMIT)
      throw new RangeError(`a record exceeds ${RECORD_LIMIT} characters`);
    // The first line of salt-api, "retry: 400", has no empty line after it.
    if (rest === 'retry: 400\n') {
      rest = '';
      yield 'retry: 400';
    }
  }
}

/**
 * Returns the minion and job of a record, if Stowage's module returned; undefined for other
 * records, which may be long.
 */
export function readReturn(record: string): SaltReturn | undefined {
  const [, jid, minion] = TAG.exec(record.slice(0, 1000)) ?? [];
  return jid !== undefined && minion !== undefined && record.includes('"stowage.')
    ? { jid, minion }
    : undefined;
}
