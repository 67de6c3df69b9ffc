import type { Transport } from './transport.ts';
import type { Clock } from './types.ts';

/**
 * Returns a transport that calls `check` before each write. An error of `check` ends the write
 * before anything is sent.
 */
export function checkWrites(transport: Transport, check: () => void): Transport {
  return {
    ...transport,
    async send(request) {
      if (request.method === 'GET') return transport.send(request);
      check();
      // Checked again right before sending: waiting for a connection, credentials or a server takes
      // time.
      return transport.send({ ...request, check });
    },
  };
}

export interface Rate {
  /** Requests a second. */
  qps: number;
  /** Maximum number of requests at once after an idle period. */
  burst: number;
}

/** Limits the rate by a token bucket, first come, first served. A watch counts as one request. */
export function limitRate(
  transport: Transport,
  { qps, burst }: Rate,
  clock: Pick<Clock, 'now' | 'sleep'>,
): Transport {
  /** Below 0 while requests wait. */
  let tokens = burst;
  let at = clock.now();

  async function take(signal: AbortSignal | undefined): Promise<void> {
    const now = clock.now();
    tokens = Math.min(burst, tokens + ((now - at) / 1000) * qps) - 1;
    at = now;
    if (tokens >= 0) return;
    await clock.sleep((-tokens / qps) * 1000, signal).catch(() => {});
    signal?.throwIfAborted();
  }

  return {
    ...transport,
    async send(request) {
      await take(request.signal);
      return transport.send(request);
    },
    async *stream(request) {
      await take(request.signal);
      yield* transport.stream(request);
    },
  };
}

/**
 * Returns a transport with at most `atOnce` requests in flight, first come, first served. Each of
 * them has a connection, and opening one costs more than most requests. Watches are not counted.
 */
export function limitRequests(transport: Transport, atOnce: number): Transport {
  let underWay = 0;
  const waiting: (() => void)[] = [];

  /** Passes the slot of an ended request to the next one. */
  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) underWay -= 1;
    else next();
  }

  return {
    ...transport,
    async send(request) {
      if (underWay < atOnce) underWay += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        request.signal?.throwIfAborted();
        return await transport.send(request);
      } finally {
        leave();
      }
    },
  };
}
