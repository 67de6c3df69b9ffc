import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls `look` until it returns a value, and returns that value. The limit only ends a wait that
 * will never succeed: no test expects a duration.
 * @throws Error after `withinMs`, with `what`
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
