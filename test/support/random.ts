import { basename } from 'node:path';
import { expect } from '@jest/globals';

/** Returns numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Returns the seed of a test file: a fixed one, so that each run tests the same, or a random one in
 * `npm run test:faults`. `STOWAGE_FAULTS_SEED` repeats a run. Prints each seed that is not the
 * fixed one.
 */
export function seedOf(): number {
  const { STOWAGE_FAULTS, STOWAGE_FAULTS_SEED } = process.env;
  if (STOWAGE_FAULTS === undefined && STOWAGE_FAULTS_SEED === undefined) return 1;
  return drawSeed();
}

/** Returns a random seed for a test file, or that of `STOWAGE_FAULTS_SEED`, and prints it. */
export function drawSeed(): number {
  const seed = Number(process.env.STOWAGE_FAULTS_SEED ?? Date.now() % 2 ** 32);
  process.stderr.write(
    `${basename(expect.getState().testPath ?? '')}: STOWAGE_FAULTS_SEED=${seed}\n`,
  );
  return seed;
}
