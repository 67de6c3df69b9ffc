import type { Transport } from './transport.ts';
import type { Clock } from './types.ts';

/** The same, whose writes are each held to `check`: what that throws ends one before a byte of it was sent. */
export function checkWrites(transport: Transport, check: () => void): Transport {
  return {
    ...transport,
    async send(request) {
      if (request.method === 'GET') return transport.send(request);
      check();
      // Again when it is about to be sent: waiting for a connection, credentials or a busy server takes its time.
      return transport.send({ ...request, check });
    },
  };
}

export interface Rate {
  /** Requests a second. */
  qps: number;
  /** Requests at once after a rest. */
  burst: number;
}

/** The same, no faster: a token bucket, first come, first served. A watch counts as one request. */
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
    // A clock that was set back gives nothing, and takes nothing.
    tokens = Math.min(burst, tokens + (Math.max(0, now - at) / 1000) * qps) - 1;
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
 * The same, with so many requests under way at once, first come, first served: each of them has a connection, and what
 * that takes to be made is more than what most requests take. Watches are not counted.
 */
export function limitRequests(transport: Transport, atOnce: number): Transport {
  let underWay = 0;
  const waiting: (() => void)[] = [];

  /** Hands the place of a request that has ended to the next. */
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
