import type { PersistentVolume } from '../../../api/core.ts';
import { refuse } from '../../../api/reasons.ts';
import type { Volume, VolumeStatus } from '../../../api/volume.ts';
import { observedStatus } from '../../../controllers/volume/observed-status.ts';
import { withPathOf } from '../../../controllers/volume/persistent-volume.ts';
import { desiredOf } from '../../../model/desired-volume.ts';
import { withDeviceOwners } from '../../../model/device-owners.ts';
import type { Executor, Step } from '../../../nodes/job.ts';
import { deviceOf } from '../../../storage/device.ts';
import { linkOf } from '../../../storage/links.ts';
import { observe } from '../../../storage/observe.ts';
import { planMetalk8sRecords } from '../../../storage/plan.ts';
import type { Refusal } from '../../../storage/types.ts';

export type Recognized =
  | {
      /** Kernel name of the device, as under /dev; undefined while a file is not attached. */
      device: string | undefined;
      /** Steps that write the missing records on the node. */
      steps: readonly Step[];
      notes: readonly string[];
      /** Fields for the status of the Volume. */
      status: Partial<VolumeStatus>;
    }
  | Refusal;

/**
 * Verifies on the node that the device of the PersistentVolume is the one that MetalK8s made for
 * the Volume.
 * @param volumes all Volumes of the cluster
 * @throws NodeError, ObservationError
 */
export async function recognize(
  volume: Volume,
  pv: PersistentVolume,
  executor: Executor,
  volumes: readonly Volume[],
): Promise<Recognized> {
  const node = volume.spec.nodeName;
  const desired = desiredOf(withPathOf(pv, volume), undefined, node);
  const path = pv.spec.local?.path;
  if (path !== linkOf(desired)) {
    return refuse('Metalk8sPathForeign', { path: path ?? 'no local path' });
  }
  const observation = await observe((probes) => executor.observe(node, probes), desired);
  const observed = withDeviceOwners(observation, desired.uid, (uid) =>
    volumes.find(({ metadata }) => metadata.uid === uid),
  );
  const planned = planMetalk8sRecords(desired, observed);
  if ('refusal' in planned) return planned;
  const { device } = deviceOf(desired, observed);
  const status = {
    ...observedStatus({ volume, node }, observed, desired),
    phase: 'Available',
    job: 'PrepareVolume/DONE',
  } as Partial<VolumeStatus>;
  return { device: device?.name, steps: planned.steps, notes: planned.notes ?? [], status };
}
