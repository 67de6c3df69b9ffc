import { setTimeout as sleep } from 'node:timers/promises';

/** Looks until something is there. Throws after `timeoutMs`, naming what was waited for and what was seen last. */
export async function until<T>(
  what: string,
  timeoutMs: number,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(20);
  }
}
