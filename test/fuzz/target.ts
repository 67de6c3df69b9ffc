import type fc from 'fast-check';

/** Kind of hostile input, with the property that must hold for it. */
export interface Target {
  name: string;
  /** Fraction of all runs. */
  share: number;
  property(): fc.IAsyncProperty<[never]> | fc.IAsyncProperty<unknown> | fc.IProperty<unknown>;
  /** Checks what the runs collected. */
  after?(): void;
}

/** Maximum time (ms) for one input. A busy machine needs ten times as long as an idle one. */
const MAX_MS = 20_000;

/**
 * Runs code that may throw only errors of these classes.
 * @throws Error for another error, or after MAX_MS
 */
export async function tame(
  run: () => unknown,
  ...allowed: (abstract new (
    ...words: never[]
  ) => Error)[]
): Promise<void> {
  const begin = performance.now();
  try {
    await run();
  } catch (error) {
    if (!allowed.some((each) => error instanceof each)) throw error;
  }
  const ms = performance.now() - begin;
  if (ms > MAX_MS) throw new Error(`it took ${Math.round(ms)} ms`);
}
