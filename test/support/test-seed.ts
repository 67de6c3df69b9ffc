/**
 * Seed of the property tests. Fixed, so that a run that fails fails again; STOWAGE_TEST_SEED sets another one, for runs
 * that are to look further.
 */
export const TEST_SEED = Number(process.env.STOWAGE_TEST_SEED ?? 1);
