import type { Resource } from './meta.ts';
import { REFERENCE_GRANT_VERSIONS } from './names.ts';
import { REFERENCE_GRANTS } from './resources.ts';

/** ReferenceGrant in each version: every served version has all objects. */
export const VERSIONS_OF_REFERENCE_GRANTS = REFERENCE_GRANT_VERSIONS.map(
  (version): Resource => ({ ...REFERENCE_GRANTS, version }),
);
