import type { SaltSession } from './session.ts';

/** What a minion returned for a job of Salt's. */
export interface SaltReturn {
  jid: string;
  minion: string;
  /** What the function returned, or the text of its failure. */
  ret: unknown;
  retcode: unknown;
}

export interface SaltEvents {
  /** Whether the stream is up: only then does a return surely come by it. */
  connected(): boolean;
  /** The return of a job, whether it came already or is yet to come; undefined once the signal aborts. */
  returned(jid: string, signal: AbortSignal): Promise<SaltReturn | undefined>;
}

export interface SaltEventsOptions {
  session: Pick<SaltSession, 'stream'>;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Ends the reading. */
  signal: AbortSignal;
}

/** A silent stream is opened anew after this long, in ms: a dead connection is silent, too. */
const SILENCE = 60_000;
/** Between two tries, in ms: the first time, doubling, and at most. */
const RETRY = { start: 250, max: 10_000 };
/** Returns that nobody asked for yet: one may come before the answer that names its job. */
const KEPT = 1000;

/** Reads the events of salt-api (GET /events) until the signal, and opens the stream again whenever it ends. */
export function readSaltEvents({ session, sleep, signal }: SaltEventsOptions): SaltEvents {
  const waiting = new Map<string, (found: SaltReturn) => void>();
  const early = new Map<string, SaltReturn>();
  let up = false;

  function take(found: SaltReturn): void {
    const hear = waiting.get(found.jid);
    if (hear !== undefined) {
      hear(found);
      return;
    }
    early.set(found.jid, found);
    const [oldest] = early.keys();
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
          if (found !== undefined) take(found);
        }
      } catch {
        // Whoever asks next learns why; here it is tried again.
      }
      up = false;
      await sleep(pause, signal).catch(() => {});
      pause = Math.min(pause * 2, RETRY.max);
    }
  }
  void read();

  return {
    connected: () => up,
    async returned(jid, given) {
      const found = early.get(jid);
      if (found !== undefined) {
        early.delete(jid);
        return found;
      }
      try {
        return await new Promise((resolve) => {
          waiting.set(jid, resolve);
          given.addEventListener('abort', () => resolve(undefined), { once: true });
          if (given.aborted) resolve(undefined);
        });
      } finally {
        waiting.delete(jid);
      }
    },
  };
}

/** The records of a stream of server-sent events, without the empty line that ends each. */
export async function* records(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    const whole = rest.split('\n\n');
    rest = whole.pop() ?? '';
    yield* whole;
    // The first thing that salt-api says has no empty line after it: "retry: 400".
    if (rest === 'retry: 400\n') {
      rest = '';
      yield 'retry: 400';
    }
  }
}

/** What a record says of a return of Stowage's module; undefined for one of another kind, which may be long. */
export function readReturn(record: string): SaltReturn | undefined {
  const [, jid, minion] = /^tag: salt\/job\/(\d+)\/ret\/(.+)$/m.exec(record) ?? [];
  if (!record.includes('"stowage.')) return undefined;
  const [, json] = /^data: (.*)$/m.exec(record) ?? [];
  if (jid === undefined || minion === undefined || json === undefined) return undefined;
  try {
    const { data } = JSON.parse(json) as { data?: { fun?: unknown; return?: unknown; retcode?: unknown } };
    if (!String(data?.fun).startsWith('stowage.')) return undefined;
    return { jid, minion, ret: data?.return, retcode: data?.retcode };
  } catch {
    return undefined;
  }
}
