import type fc from 'fast-check';

/** One kind of hostile input, and what has to hold for it. */
export interface Target {
  name: string;
  /** Share of all runs. */
  share: number;
  property(): fc.IAsyncProperty<[never]> | fc.IAsyncProperty<unknown> | fc.IProperty<unknown>;
  /** Checks what was collected over all runs. */
  after?(): void;
}

/** Longest time that one input may take, in ms. A busy machine needs ten times what one at rest needs. */
const MAX_MS = 20_000;

/** Runs what may throw errors of these classes alone, and ends in time. */
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
