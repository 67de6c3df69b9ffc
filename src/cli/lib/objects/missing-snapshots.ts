import { StowageError } from '../../../api/errors.ts';
import { isNotFound } from '../../../kube/errors.ts';

/**
 * Rethrows the error of a request about VolumeSnapshots. If the cluster does not know the kind,
 * throws a StowageError `not-found` for that. (Details of the answer name a missing object or
 * namespace, but not a missing kind.)
 */
export function missingKind(error: unknown): never {
  if (!isNotFound(error) || error.status.details?.name !== undefined) throw error;
  throw noSnapshots(error);
}

/** Returns the error of a cluster that does not know VolumeSnapshots. */
export const noSnapshots = (cause?: unknown): StowageError =>
  new StowageError('not-found', 'This cluster has no VolumeSnapshots', {
    hint: 'Install their definition: stowage install --components snapshot-crds',
    cause,
  });
