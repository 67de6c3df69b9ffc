import type { Lease } from '../../api/core.ts';
import { isHeld } from '../../api/leader.ts';
import type { KubeObject } from '../../api/meta.ts';
import { DRIVER, LEADER_ANNOTATION } from '../../api/names.ts';
import { CSI_DRIVERS, CSI_STORAGE_CAPACITIES, LEASES } from '../../api/resources.ts';
import { CAPACITY_SELECTOR } from '../../controllers/lib/capacity/capacity.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { readLeases } from '../lib/leaders.ts';
import { isOurs } from '../lib/objects/installed-labels.ts';
import { foundIn, reading, readNamed } from '../lib/read-result.ts';
import type { Installed } from './installed-objects.ts';

/**
 * Returns objects of daemons that no daemon updates any more: CSIStorageCapacities, Leases, and the
 * CSIDriver. Excludes objects of a daemon that leads elsewhere, such as on a machine,
 * and those that the user may not read. Throws a StowageError.
 * @param keep namespace of a daemon that stays
 * @param gone namespaces whose daemon is removed, even if it leads
 * @param now ms since the epoch
 */
export async function leftByDaemons(
  client: Pick<KubeClient, 'get' | 'list'>,
  { keep, gone }: { keep?: string; gone: ReadonlySet<string> },
  now: number,
  signal: AbortSignal,
): Promise<Installed[]> {
  const leases = foundIn(await readLeases(client, signal));
  // Without the Leases it is unknown which daemons lead: nothing is removed.
  if (leases === undefined) return [];
  const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? '';
  const leading = leases.filter((lease) => isHeld(lease, now) && !gone.has(namespaceOf(lease)));
  const kept = new Set([...leading.map(namespaceOf), ...(keep === undefined ? [] : [keep])]);
  const list = listAll<KubeObject>(client, CSI_STORAGE_CAPACITIES, {
    labelSelector: CAPACITY_SELECTOR,
    signal,
  });
  const capacities = foundIn(await reading(list))?.items ?? [];
  const driver = foundIn(await readNamed<KubeObject>(client, CSI_DRIVERS, DRIVER, { signal }));
  const isLeft = (object: KubeObject): boolean => !kept.has(namespaceOf(object));
  return [
    ...capacities.filter(isLeft).map((object) => ({ resource: CSI_STORAGE_CAPACITIES, object })),
    ...leases
      .filter((lease) => isLeft(lease) && isOfDaemon(lease))
      .map((object) => ({ resource: LEASES, object })),
    ...(kept.size === 0 && driver !== undefined && isOurs(driver)
      ? [{ resource: CSI_DRIVERS, object: driver }]
      : []),
  ];
}

/** Reports whether a daemon wrote a Lease: anyone may create one of that name. */
const isOfDaemon = ({ metadata }: Lease): boolean =>
  metadata.annotations?.[LEADER_ANNOTATION] !== undefined;
