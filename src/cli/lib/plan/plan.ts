import type { StorageClass } from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import type { Reason } from '../../../api/reasons.ts';
import type { Volume } from '../../../api/volume.ts';
import { checkClass } from '../../../model/class-options.ts';
import { desiredOf } from '../../../model/desired-volume.ts';
import { withDeviceOwners } from '../../../model/device-owners.ts';
import type { Executor, Step } from '../../../nodes/job.ts';
import { freeLoopNumber } from '../../../storage/loops.ts';
import { observe } from '../../../storage/observe.ts';
import { plan } from '../../../storage/plan.ts';

/** Placeholder for the UID that the API server gives a new Volume. Valid, and no object's. */
export const PLACEHOLDER_UID = '00000000-0000-4000-8000-000000000000';

/** Steps on a node for a Volume, or why there would be none. */
export type VolumePlan = { volume: string; node: string } & (
  | { uid: typeof PLACEHOLDER_UID; steps: readonly Step[] }
  | { refusal: string; hint: string; reason?: Reason }
);

/**
 * Observes the node of a Volume that does not exist yet, and plans as the controller would.
 * @param volumes all Volumes of the cluster
 * @throws NodeError, ObservationError
 */
export async function planVolume(
  volume: Volume,
  storageClass: StorageClass,
  executor: Executor,
  volumes: readonly Volume[],
): Promise<VolumePlan> {
  const node = volume.spec.nodeName;
  const planned = { volume: volume.metadata.name, node };
  const options = checkClass(storageClass, volume.spec.mode);
  if ('problem' in options) {
    return {
      ...planned,
      refusal: options.problem,
      hint: 'Correct the storage class: delete it and create it again.',
    };
  }
  const created = { ...volume, metadata: { ...volume.metadata, uid: PLACEHOLDER_UID } };
  const desired = desiredOf(created, options);
  const observation = await observe((probes) => executor.observe(node, probes), desired);
  const observed = withDeviceOwners(observation, PLACEHOLDER_UID, (uid) =>
    volumes.find(({ metadata }) => metadata.uid === uid),
  );
  const made = plan('provision', desired, observed, freeLoopNumber(observed.loops, new Set()));
  return 'refusal' in made
    ? {
        ...planned,
        refusal: made.refusal,
        hint: made.hint,
        ...(made.reason && { reason: made.reason }),
      }
    : { ...planned, uid: PLACEHOLDER_UID, steps: made.steps };
}

export const refused = (
  volume: string,
  { refusal, hint, reason }: { refusal: string; hint: string; reason?: Reason },
): StowageError =>
  new StowageError('conflict', `Volume ${volume}: ${refusal}`, {
    hint,
    ...(reason && { detail: reason }),
    object: { kind: 'Volume', name: volume },
  });
