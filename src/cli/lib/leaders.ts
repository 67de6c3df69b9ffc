import type { ControllerName } from '../../api/controllers.ts';
import type { Lease } from '../../api/core.ts';
import { isHeld, type Leader, leaderOf, leasesOfDaemons } from '../../api/leader.ts';
import { COMPONENT } from '../../api/names.ts';
import { LEASES } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { MAX_WAIT_FOR_UNMOUNT } from '../../model/node-health.ts';
import { foundIn, type Reading, reading } from './read-result.ts';

/** Excludes the kubelets' Leases, one for each node: no daemon runs in their namespace. */
const WITHOUT_KUBELETS = 'metadata.namespace!=kube-node-lease';

/** Reads the Leases of daemons, held or not. Throws a StowageError, except for a refusal. */
export const readLeases = (
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<Reading<Lease[]>> =>
  reading(
    listAll<Lease>(client, LEASES, { fieldSelector: WITHOUT_KUBELETS, signal }).then(({ items }) =>
      leasesOfDaemons(items),
    ),
  );

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
 * Returns the Lease that was renewed last, if no daemon leads for a node. Returns undefined if one
 * does, or if no Lease exists: a daemon with --leader-election=false has none. Pure. `now` is in ms
 * since the epoch.
 * @param node node of the work, if known: daemons with --transport local act only for the
 * nodes that they name
 */
export function abandonedLease(
  leases: readonly Lease[],
  node: string | undefined,
  now: number,
): Lease | undefined {
  const acting = leases.filter(({ metadata: { name } }) => mayActFor(name, node));
  if (acting.some((lease) => isHeld(lease, now))) return undefined;
  return acting.toSorted((a, b) => renewedAt(b) - renewedAt(a))[0];
}

/** Returns the time of the last renewal, in ms since the epoch; 0 if there is none. */
export const renewedAt = ({ spec }: Lease): number => Date.parse(spec?.renewTime ?? '') || 0;

/**
 * Reports whether a daemon with this Lease may act for a node. Its name contains the nodes' names,
 * or a digest if these are too long.
 */
function mayActFor(lease: string, node: string | undefined): boolean {
  if (node === undefined || lease === COMPONENT || /^stowage-[0-9a-f]{64}$/.test(lease))
    return true;
  return `${lease}-`.includes(`-${node}-`);
}

/**
 * Returns how long daemons wait for a NotReady node, in ms: the longest wait of a leader. The
 * default applies if no leader states it, or the Leases may not be read. Throws a StowageError.
 */
export async function readMaxWait(
  client: Pick<KubeClient, 'list' | 'serverTime'>,
  signal: AbortSignal,
): Promise<number> {
  const leases = foundIn(await readLeases(client, signal)) ?? [];
  // Without a known time, all Leases count as held: the longest wait is the safest.
  const leaders = leadersIn(leases, client.serverTime() ?? Number.NEGATIVE_INFINITY);
  const waits = leaders.map(({ maxWaitForUnmountMs }) => maxWaitForUnmountMs);
  return (
    waits.reduce<number>((longest, each) => Math.max(longest, each ?? 0), 0) || MAX_WAIT_FOR_UNMOUNT
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
