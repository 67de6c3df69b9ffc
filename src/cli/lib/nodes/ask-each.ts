import type { Clock } from '../../../kube/types.ts';

/** Limits of requests to several nodes. */
export interface AskLimits {
  /** Maximum wait for each node, in ms. */
  timeoutMs: number;
  /** Number of nodes that are asked in parallel. */
  atOnce: number;
}

/**
 * Asks nodes independently. Returns results in the order of names; `late` is the one of a node that
 * takes too long. Throws errors of `ask`, whose signal aborts once its result is not awaited any
 * more.
 */
export async function askEach<T>(
  names: readonly string[],
  { timeoutMs, atOnce }: AskLimits,
  clock: Clock,
  ask: (name: string, signal: AbortSignal) => Promise<T>,
  late: (message: string) => T,
): Promise<T[]> {
  const results: T[] = [];
  const left = names.entries();
  const work = async () => {
    for (const [index, name] of left) results[index] = await askOne(name);
  };
  const askOne = async (name: string): Promise<T> => {
    const over = new AbortController();
    const tooLate = clock.sleep(timeoutMs, over.signal).then(
      () => late(`no answer within ${timeoutMs / 1000} s`),
      () => new Promise<T>(() => {}),
    );
    try {
      return await Promise.race([ask(name, over.signal), tooLate]);
    } finally {
      over.abort();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}
