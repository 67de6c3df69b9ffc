import type { CsiStorageCapacity, Lease } from '../api/core.ts';
import { isHeld, leasesOfDaemons } from '../api/leader.ts';
import { CSI_STORAGE_CAPACITIES, LEASES } from '../api/resources.ts';
import { CAPACITY_SELECTOR } from '../controllers/lib/capacity/capacity.ts';
import { isAllowed } from '../kube/access-review.ts';
import { listAll } from '../kube/client.ts';
import { isNotFound } from '../kube/errors.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from '../workqueue/clock.ts';

/** Interval (ms) between checks. An unreleased Lease is held for less. */
const ASK_AGAIN = 60_000;

/**
 * Deletes the CSIStorageCapacities of namespaces whose daemon leads no more: the scheduler takes
 * the largest value of a class and node, and these are outdated. Repeats while a daemon still leads
 * elsewhere. Does nothing without permission: an installed daemon has it only in its own namespace,
 * and `stowage install` has removed the others before. Throws API errors.
 * @param namespace namespace of this daemon's objects
 */
export async function removeLeftCapacities(
  client: Pick<KubeClient, 'create' | 'list' | 'delete'>,
  namespace: string,
  clock: Pick<Clock, 'timeOfDay' | 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  const { group, plural: resource } = CSI_STORAGE_CAPACITIES;
  if (!(await isAllowed(client, { group, resource, verb: 'delete' }, signal))) return;
  for (;;) {
    const options = { labelSelector: CAPACITY_SELECTOR, signal };
    const { items } = await listAll<CsiStorageCapacity>(client, CSI_STORAGE_CAPACITIES, options);
    const elsewhere = items.filter(({ metadata }) => metadata.namespace !== namespace);
    if (elsewhere.length === 0) return;
    const leases = leasesOfDaemons((await listAll<Lease>(client, LEASES, { signal })).items);
    const held = leases.filter((lease) => isHeld(lease, clock.timeOfDay()));
    const leading = new Set(held.map(({ metadata }) => metadata.namespace));
    const left = elsewhere.filter(({ metadata }) => !leading.has(metadata.namespace));
    for (const { metadata } of left) {
      const { name, uid } = metadata;
      const at = { namespace: metadata.namespace, uid, signal };
      await client.delete(CSI_STORAGE_CAPACITIES, name, at).catch((error) => {
        if (!isNotFound(error)) throw error;
      });
    }
    if (left.length === elsewhere.length) return;
    await clock.sleep(ASK_AGAIN, signal);
  }
}
