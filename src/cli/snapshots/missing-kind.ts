import { StowageError } from '../../api/errors.ts';
import { isNotFound } from '../../kube/errors.ts';

/**
 * For what is thrown by a request about VolumeSnapshots: throws it, or, where the cluster does not know the kind, a StowageError
 * `not-found` that says so. (A missing object or namespace names itself in the details of the answer; a missing kind does not.)
 */
export function missingKind(error: unknown): never {
  if (!isNotFound(error) || error.status.details?.name !== undefined) throw error;
  throw new StowageError('not-found', 'This cluster has no VolumeSnapshots', {
    hint: 'What defines them is installed by: stowage install --components snapshot-crds',
    cause: error,
  });
}
