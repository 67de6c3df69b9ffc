import type { ControllerName } from '../../api/controllers.ts';
import type { Deployment, Lease } from '../../api/core.ts';
import { isHeld } from '../../api/leader.ts';
import { COMPONENT } from '../../api/names.ts';
import { DEPLOYMENTS } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import { noDaemon } from '../lib/checks/no-daemon.ts';
import { commandLine } from '../lib/command-line.ts';
import { readLeases, runsWithout } from '../lib/leaders.ts';
import { MANAGED_BY } from '../lib/objects/installed-labels.ts';
import type { ReadClient } from '../lib/objects/related.ts';
import { foundIn, type Reading, reading } from '../lib/read-result.ts';
import type { Reason } from './reasons.ts';
import type { Blocker, Fix } from './types.ts';

/** So much later than the last renewal, in ms, it cannot have been the daemon that had the Lease. */
const LATER = 60_000;

export interface Daemons {
  leases: Reading<Lease[]>;
  deployments: Reading<Deployment[]>;
}

/** What goes on where a daemon leads: what else holds an object up is for others to end, whether one does or not. */
const DAEMONS_TURN: ReadonlySet<Reason> = new Set<Reason>([
  'NotTakenUp',
  'JobRunning',
  'RetryWaiting',
  'RemovalRunning',
  'RemovalFailed',
  'NodeUnreachable',
  'NodeUnclear',
  'NotAttached',
  'AttachmentUncertain',
  'NotBound',
  'NotGrown',
  'PersistentVolumeMissing',
  'SnapshotBeingTaken',
  'SourceNotReady',
  'Populating',
  'Unavailable',
]);

/** Of these, `since` is when a daemon wrote it. */
const TOLD_BY_DAEMON: ReadonlySet<Reason> = new Set<Reason>([
  'JobRunning',
  'RetryWaiting',
  'RemovalFailed',
  'NodeUnreachable',
  'NodeUnclear',
  'AttachmentUncertain',
  'Unavailable',
]);

/** Causes that others remove, after which a daemon goes on. */
const THEN_DAEMONS_TURN: ReadonlySet<Reason> = new Set<Reason>([
  'GateOff',
  'GrantMissing',
  'SourceMissing',
  'SnapshotNotReady',
  'NoRoom',
  'RoomUnknown',
  'NodeNotReady',
]);

export const isDaemonsTurn = ({ cause }: Blocker): boolean => DAEMONS_TURN.has(cause);

/** What tells whether a daemon leads. Throws a StowageError; what the user may not read is told in its place. */
export async function readDaemons(client: ReadClient, signal: AbortSignal): Promise<Daemons> {
  const labelSelector = `${MANAGED_BY}=${COMPONENT}`;
  const [leases, deployments] = await Promise.all([
    readLeases(client, signal),
    reading(
      listAll<Deployment>(client, DEPLOYMENTS, { signal, labelSelector }).then(
        ({ items }) => items,
      ),
    ),
  ]);
  return { leases, deployments };
}

/**
 * That no daemon leads any more, instead of what one said or should have done. Where there never was a Lease nothing follows:
 * a daemon with --leader-election=false has none. Pure. `now` in ms since the epoch.
 * @param node that the work is on, where one is known: daemons with --transport local act for the nodes they name alone
 */
export function daemonAbsent(
  { leases, deployments }: Daemons,
  instead: Blocker,
  node: string | undefined,
  now: number,
): Blocker | undefined {
  const acting = (foundIn(leases) ?? []).filter(({ metadata: { name } }) => mayActFor(name, node));
  if (acting.some((lease) => isHeld(lease, now))) return undefined;
  const [last] = acting.toSorted((a, b) => renewed(b) - renewed(a));
  if (last === undefined) return undefined;
  // One that writes without a Lease is none the less there.
  if (TOLD_BY_DAEMON.has(instead.cause) && Date.parse(instead.since ?? '') > renewed(last) + LATER)
    return undefined;
  const { metadata, spec } = last;
  const lease = `${metadata.namespace}/${metadata.name}`;
  const how = spec?.holderIdentity
    ? `${spec.holderIdentity}, which has the Lease ${lease}, renews it no more`
    : `the Lease ${lease} was given up, and nobody took it`;
  return {
    cause: 'DaemonAbsent',
    chain: [{ kind: 'Lease', namespace: metadata.namespace ?? '', name: metadata.name }],
    holdup: `no daemon leads: ${how}; before that: ${instead.holdup}`,
    ...(spec?.renewTime ? { since: spec.renewTime } : {}),
    next: { when: 'as soon as a daemon leads' },
    fix: fixOf(foundIn(deployments) ?? []),
  };
}

/** The controllers that take objects up. */
const TAKES_UP: Readonly<Record<string, ControllerName>> = {
  Volume: 'volume',
  PersistentVolumeClaim: 'claim',
  VolumeSnapshot: 'snapshot',
};

/**
 * Returns ControllerOff where the leading daemon runs without the controller that takes up the end of the chain. Pure. `now` in ms
 * since the epoch.
 * @param kind of what was asked about
 */
export function controllerOff(
  { leases }: Daemons,
  instead: Blocker,
  kind: string,
  now: number,
): Blocker | undefined {
  const controller = instead.controller ?? TAKES_UP[instead.chain?.at(-1)?.kind ?? kind];
  if (instead.cause !== 'NotTakenUp' || controller === undefined) return undefined;
  if (!runsWithout(foundIn(leases) ?? [], controller, now)) return undefined;
  return {
    ...instead,
    cause: 'ControllerOff',
    holdup: `the daemon that leads runs without the controller ${controller}`,
    next: { when: 'once it is run with it' },
    fix: {
      say: 'Have the daemon run with all controllers, or with this one beside those that it has.',
      daemonFlags: ['--controllers', '*'],
    },
  };
}

/**
 * Returns the blocker with the command by which the daemon gets the flags of its fix. An installed daemon keeps its namespace, its image
 * and its other flags; any other daemon has to end first. The command takes nothing from the Deployment: whoever may write one in
 * a namespace could have the daemon installed there, with an image of theirs. Pure.
 */
function withDaemonFlags({ deployments }: Daemons, blocker: Blocker): Blocker {
  const { daemonFlags, ...fix } = blocker.fix ?? { say: '' };
  if (daemonFlags === undefined) return blocker;
  const [deployment] = foundIn(deployments) ?? [];
  if (deployment === undefined) {
    const say = `${fix.say} End the one that leads, and run it again with its own flags and this:`;
    return { ...blocker, fix: { say, run: [commandLine('stowage', 'watch', ...daemonFlags)] } };
  }
  const { namespace, name } = deployment.metadata;
  const say = `${fix.say} If its Deployment ${namespace}/${name} is yours, with its own namespace and image:`;
  const kept = ['-n', 'NAMESPACE', '--image', 'IMAGE'];
  return {
    ...blocker,
    fix: { say, run: [commandLine('stowage', 'install', ...kept, ...daemonFlags)] },
  };
}

/** Returns whether the explanation depends on the daemon. */
export const asksForDaemons = (blocker: Blocker): boolean =>
  isDaemonsTurn(blocker) ||
  THEN_DAEMONS_TURN.has(blocker.cause) ||
  blocker.fix?.daemonFlags !== undefined;

/**
 * Returns the blocker, completed or replaced by what is known of daemons. Pure. `now` in ms since the epoch.
 * @param asked the kind that was asked about, and the node that the work is on, where one is known
 */
export function besideDaemons(
  daemons: Daemons,
  blocker: Blocker,
  asked: { kind: string; node?: string | undefined },
  now: number,
): Blocker {
  const absent = daemonAbsent(daemons, blocker, asked.node, now);
  if (absent !== undefined) {
    if (isDaemonsTurn(blocker)) return absent;
    const next = { when: 'once a daemon leads: none does now (stowage check cluster)' };
    return withDaemonFlags(daemons, { ...blocker, next });
  }
  return withDaemonFlags(daemons, controllerOff(daemons, blocker, asked.kind, now) ?? blocker);
}

const renewed = ({ spec }: Lease): number => Date.parse(spec?.renewTime ?? '') || 0;

/** One of several nodes has their names in its own; one of so many that they have no room there may be of each. */
function mayActFor(lease: string, node: string | undefined): boolean {
  if (node === undefined || lease === COMPONENT || /^stowage-[0-9a-f]{64}$/.test(lease))
    return true;
  return `${lease}-`.includes(`-${node}-`);
}

function fixOf(deployments: readonly Deployment[]): Fix {
  const [deployment] = deployments;
  if (deployment === undefined) {
    return {
      say: 'Run the daemon where it ran, or install it into the cluster with stowage install.',
      run: ['stowage watch'],
    };
  }
  const { name, namespace = '' } = deployment.metadata;
  if (deployment.spec?.replicas === 0) {
    return {
      say: `The Deployment ${namespace}/${name} is to have no pods: let it have one.`,
      run: [
        commandLine('kubectl', '-n', namespace, 'scale', `deployment/${name}`, '--replicas', '1'),
      ],
    };
  }
  const { message, hint, commands } = noDaemon(deployments);
  return { say: `${message}. ${hint}`, run: commands };
}
