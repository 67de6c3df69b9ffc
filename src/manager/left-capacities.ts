import type { CsiStorageCapacity, Lease } from '../api/core.ts';
import { isHeld, leasesOfDaemons } from '../api/leader.ts';
import { CSI_STORAGE_CAPACITIES, LEASES } from '../api/resources.ts';
import { CAPACITY_SELECTOR } from '../controllers/lib/capacity/capacity.ts';
import { isAllowed } from '../kube/access-review.ts';
import { listAll } from '../kube/client.ts';
import { isNotFound } from '../kube/errors.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from '../workqueue/clock.ts';

/** A Lease that nobody gave up is held for less. ms */
const ASK_AGAIN = 60_000;

/**
 * Deletes the CSIStorageCapacities of namespaces where a daemon was and none leads: the scheduler goes by the largest of a class
 * and node, and nobody updates these. Where one leads still, it is asked again. Nothing is asked for that is not allowed: the
 * account of an installed daemon has the right in its own namespace alone, and `stowage install` has removed them before. Throws
 * what the API server refuses all the same.
 * @param namespace where this daemon's are
 */
export async function removeLeftCapacities(
  client: Pick<KubeClient, 'create' | 'list' | 'delete'>,
  namespace: string,
  clock: Pick<Clock, 'now' | 'sleep'>,
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
    const held = leases.filter((lease) => isHeld(lease, clock.now()));
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
