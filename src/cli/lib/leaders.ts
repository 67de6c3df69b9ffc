import type { ControllerName } from '../../api/controllers.ts';
import type { Lease } from '../../api/core.ts';
import { isHeld, type Leader, leaderOf, leasesOfDaemons } from '../../api/leader.ts';
import { LEASES } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { MAX_WAIT_FOR_UNMOUNT } from '../../model/node-health.ts';
import { foundIn, type Reading, reading } from './read-result.ts';

/** The Leases of daemons, held or not. Throws a StowageError; that they may not be read is told in their place. */
export const readLeases = (
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<Reading<Lease[]>> =>
  reading(listAll<Lease>(client, LEASES, { signal }).then(({ items }) => leasesOfDaemons(items)));

/** Returns the settings of the daemons that lead, as their Leases have them; without those of earlier versions. `now` in ms since the epoch. Pure. */
export const leadersIn = (leases: readonly Lease[], now: number): Leader[] =>
  leases
    .filter((lease) => isHeld(lease, now))
    .map(leaderOf)
    .filter((leader) => leader !== undefined);

/**
 * For how long daemons wait for a node that is NotReady, in ms: the longest that one says; the default where none does, or the Leases
 * may not be read. `now` in ms since the epoch. Throws a StowageError.
 */
export async function readMaxWait(
  client: Pick<KubeClient, 'list'>,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  const leaders = leadersIn(foundIn(await readLeases(client, signal)) ?? [], now);
  const told = leaders.map(({ maxWaitForUnmountMs }) => maxWaitForUnmountMs);
  return (
    told.reduce<number>((longest, each) => Math.max(longest, each ?? 0), 0) || MAX_WAIT_FOR_UNMOUNT
  );
}

/** Whether claims may start from what is in other namespaces, as those say that work on claims; undefined where none says so. Pure. */
export function followsNamespaces(leaders: readonly Leader[]): boolean | undefined {
  const gates = leaders
    .filter(({ controllers }) => controllers.includes('claim'))
    .map(({ featureGates }) => featureGates.CrossNamespaceVolumeDataSource);
  return gates.length === 0 ? undefined : gates.some((isOn) => isOn);
}

/** Whether claims may start from VolumeSnapshotLinks; undefined where no daemon says so. Pure. */
export function followsLinks(leaders: readonly Leader[]): boolean | undefined {
  const those = leaders.filter(({ controllers }) => controllers.includes('claim'));
  return those.length === 0 ? undefined : those.some(({ links }) => links);
}

/** Whether every daemon that leads runs without a controller; undefined where one does not say. Pure. */
export function runsWithout(
  leases: readonly Lease[],
  controller: ControllerName,
  now: number,
): boolean | undefined {
  const held = leases.filter((lease) => isHeld(lease, now));
  const leaders = leadersIn(held, now);
  if (leaders.length < held.length || held.length === 0) return undefined;
  return !leaders.some(({ controllers }) => controllers.includes(controller));
}
