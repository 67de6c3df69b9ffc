/**
 * Set if every case runs (`npm run test:all`), instead of one per mechanism (`npm test`). Tables of
 * cases with the same code on the node use it to select their representatives.
 */
export const EVERY_CASE =
  process.env.STOWAGE_EVERY_CASE !== undefined || process.env.STOWAGE_FAULTS !== undefined;
