/**
 * Seed of the property tests. It is fixed, so that a failure repeats; STOWAGE_TEST_SEED sets
 * another one for wider runs.
 */
export const TEST_SEED = Number(process.env.STOWAGE_TEST_SEED ?? 1);
