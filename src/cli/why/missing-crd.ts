import { isNotFound } from '../../kube/errors.ts';
import type { Blocker } from './types.ts';

/** Components of `stowage install`, by the kind that they define. */
const COMPONENTS = { Volume: 'crds', VolumeSnapshot: 'snapshot-crds' } as const;

/**
 * Returns the blocker for a kind that the cluster does not know; rethrows other errors. (Details of
 * the answer name a missing object, but not a missing kind.)
 */
export function missingCrd(error: unknown, kind: keyof typeof COMPONENTS): Blocker {
  if (!isNotFound(error) || error.status.details?.name !== undefined) throw error;
  return {
    cause: 'CRDMissing',
    holdup: `the CustomResourceDefinition of kind ${kind} is not installed`,
    next: { when: 'when it is installed, and the object is created' },
    fix: {
      say: 'Install the CustomResourceDefinitions.',
      run: [`stowage install --components ${COMPONENTS[kind]}`],
    },
  };
}
