/**
 * Whether every case runs (`npm run test:all`), and not only those of `npm test`: one for each mechanism. A table of cases
 * that go through the same code on the node says with this which of them stand for the others.
 */
export const EVERY_CASE =
  process.env.STOWAGE_EVERY_CASE !== undefined || process.env.STOWAGE_FAULTS !== undefined;
