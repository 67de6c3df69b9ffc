import type { ControllerName } from '../../api/controllers.ts';
import type { Lease } from '../../api/core.ts';
import { isHeld, type Leader, leaderOf, leasesOfDaemons } from '../../api/leader.ts';
import { LEASES } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { MAX_WAIT_FOR_UNMOUNT } from '../../model/node-health.ts';
import { foundIn, type Reading, reading } from './read-result.ts';

/** Reads the Leases of daemons, held or not. Throws a StowageError, except for a refusal. */
export const readLeases = (
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<Reading<Lease[]>> =>
  reading(listAll<Lease>(client, LEASES, { signal }).then(({ items }) => leasesOfDaemons(items)));

/**
 * Returns the settings of leading daemons from their Leases, without daemons of earlier versions.
 * `now` is in ms since the epoch. Pure.
 */
export const leadersIn = (leases: readonly Lease[], now: number): Leader[] =>
  leases
    .filter((lease) => isHeld(lease, now))
    .map(leaderOf)
    .filter((leader) => leader !== undefined);

/**
 * Returns how long daemons wait for a NotReady node, in ms: the longest wait of a leader. The
 * default applies if no leader states it, or the Leases may not be read. `now` is in ms since the
 * epoch. Throws a StowageError.
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

/**
 * Reports whether claims may start from other namespaces, according to the leaders that reconcile
 * claims; undefined without such a leader. Pure.
 */
export function followsNamespaces(leaders: readonly Leader[]): boolean | undefined {
  const gates = leaders
    .filter(({ controllers }) => controllers.includes('claim'))
    .map(({ featureGates }) => featureGates.CrossNamespaceVolumeDataSource);
  return gates.length === 0 ? undefined : gates.some((isOn) => isOn);
}

/**
 * Reports whether claims may start from VolumeSnapshotLinks; undefined if no leader reconciles
 * claims. Pure.
 */
export function followsLinks(leaders: readonly Leader[]): boolean | undefined {
  const those = leaders.filter(({ controllers }) => controllers.includes('claim'));
  return those.length === 0 ? undefined : those.some(({ links }) => links);
}

/**
 * Reports whether no leading daemon runs a controller; undefined without leaders, or if one does
 * not state its controllers. Pure.
 */
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
