import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls `look` until it returns something, and returns that. The limit only ends a wait that will never succeed: it is
 * no expectation on how long anything takes. Throws after `withinMs`, naming what was waited for.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined>,
  withinMs = 120_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > deadline) throw new Error(`timed out after ${withinMs} ms: ${what}`);
    await sleep(20);
  }
}
