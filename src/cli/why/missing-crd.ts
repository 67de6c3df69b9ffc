import { isNotFound } from '../../kube/errors.ts';
import type { Blocker } from './types.ts';

/** Kinds of Stowage's, or that it goes by, and which component of `stowage install` defines them. */
const COMPONENTS = { Volume: 'crds', VolumeSnapshot: 'snapshot-crds' } as const;

/**
 * What is said of an object whose kind the cluster does not know; throws all else. (A missing object names itself in the
 * details of the answer; a missing kind does not.)
 */
export function missingCrd(error: unknown, kind: keyof typeof COMPONENTS): Blocker {
  if (!isNotFound(error) || error.status.details?.name !== undefined) throw error;
  return {
    cause: 'CRDMissing',
    holdup: `this cluster has no ${kind}s: their CustomResourceDefinition is missing`,
    next: { when: 'when they are defined, and the object is made' },
    fix: {
      say: 'Install what defines them.',
      run: [`stowage install --components ${COMPONENTS[kind]}`],
    },
  };
}
