import { fuzz } from '../fuzz/run.ts';
import { TEST_SEED } from '../support/test-seed.ts';

/** A small part of `npm run test:fuzz`, with the same inputs each time. */
fuzz(2000, TEST_SEED);
