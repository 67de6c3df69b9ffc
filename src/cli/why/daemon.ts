import type { ControllerName } from '../../api/controllers.ts';
import type { Deployment, Lease } from '../../api/core.ts';
import { COMPONENT } from '../../api/names.ts';
import { DEPLOYMENTS } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import { noDaemon } from '../lib/checks/no-daemon.ts';
import { commandLine } from '../lib/command-line.ts';
import { abandonedLease, readLeases, renewedAt, runsWithout } from '../lib/leaders.ts';
import { MANAGED_BY } from '../lib/objects/installed-labels.ts';
import type { ReadClient } from '../lib/objects/related.ts';
import { foundIn, type Reading, reading } from '../lib/read-result.ts';
import type { Reason } from './reasons.ts';
import type { Blocker, Fix } from './types.ts';

/** Time (ms) after the last renewal from which a report is not from that Lease's daemon. */
const LATER = 60_000;

export interface Daemons {
  leases: Reading<Lease[]>;
  deployments: Reading<Deployment[]>;
}

/** Causes that end only while a daemon leads. Other causes do not depend on a daemon. */
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

/** Causes whose `since` is the time of a daemon's report. */
const REPORTED_BY_DAEMON: ReadonlySet<Reason> = new Set<Reason>([
  'JobRunning',
  'RetryWaiting',
  'RemovalFailed',
  'NodeUnreachable',
  'NodeUnclear',
  'AttachmentUncertain',
  'Unavailable',
]);

/** Causes that others remove, after which a daemon proceeds. */
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

/** Reads whether a daemon leads. Throws a StowageError; a refusal stands for an unreadable list. */
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
 * Reports that no daemon leads any more, in place of a blocker that a daemon reported or should
 * end. Concludes nothing if no Lease exists, as `abandonedLease`. Pure. `now` is in ms since the
 * epoch.
 * @param node node of the work, if known
 */
export function daemonAbsent(
  { leases, deployments }: Daemons,
  instead: Blocker,
  node: string | undefined,
  now: number,
): Blocker | undefined {
  const last = abandonedLease(foundIn(leases) ?? [], node, now);
  if (last === undefined) return undefined;
  // A daemon that reports without a Lease exists nevertheless.
  if (
    REPORTED_BY_DAEMON.has(instead.cause) &&
    Date.parse(instead.since ?? '') > renewedAt(last) + LATER
  )
    return undefined;
  const { metadata, spec } = last;
  const lease = `${metadata.namespace}/${metadata.name}`;
  const how = spec?.holderIdentity
    ? `${spec.holderIdentity} holds the Lease ${lease}, but no longer renews it`
    : `the Lease ${lease} was released, and no process has acquired it`;
  return {
    cause: 'DaemonAbsent',
    chain: [{ kind: 'Lease', namespace: metadata.namespace ?? '', name: metadata.name }],
    holdup: `no daemon leads: ${how}; previous blocker: ${instead.holdup}`,
    ...(spec?.renewTime ? { since: spec.renewTime } : {}),
    next: { when: 'as soon as a daemon leads' },
    fix: fixOf(foundIn(deployments) ?? []),
  };
}

/** Controllers that first process an object, by kind. */
const TAKES_UP: Readonly<Record<string, ControllerName>> = {
  Volume: 'volume',
  PersistentVolumeClaim: 'claim',
  VolumeSnapshot: 'snapshot',
};

/**
 * Returns ControllerOff if the leading daemon runs without the controller for the end of the chain.
 * Pure. `now` is in ms since the epoch.
 * @param kind kind of the explained object
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
    next: { when: 'when the daemon runs with that controller' },
    fix: {
      say: 'Run the daemon with all controllers, or add this one to its --controllers.',
      daemonFlags: ['--controllers', '*'],
    },
  };
}

/**
 * Returns the blocker with the command that gives the daemon the flags of its fix. An installed
 * daemon keeps its namespace, its image and its other flags; any other daemon must end first.
 * The command takes nothing from the Deployment: users who may write one could otherwise choose the
 * namespace and the image of the daemon. Pure.
 */
function withDaemonFlags({ deployments }: Daemons, blocker: Blocker): Blocker {
  const { daemonFlags, ...fix } = blocker.fix ?? { say: '' };
  if (daemonFlags === undefined) return blocker;
  const [deployment] = foundIn(deployments) ?? [];
  if (deployment === undefined) {
    const say = `${fix.say} Stop the daemon that leads, then run it with its own flags and this one:`;
    return { ...blocker, fix: { say, run: [commandLine('stowage', 'watch', ...daemonFlags)] } };
  }
  const { namespace, name } = deployment.metadata;
  const say = `${fix.say} If its Deployment ${namespace}/${name} is yours, install it again with its namespace and image:`;
  const kept = ['-n', 'NAMESPACE', '--image', 'IMAGE'];
  return {
    ...blocker,
    fix: { say, run: [commandLine('stowage', 'install', ...kept, ...daemonFlags)] },
  };
}

/** Reports whether the explanation depends on the daemon. */
export const asksForDaemons = (blocker: Blocker): boolean =>
  isDaemonsTurn(blocker) ||
  THEN_DAEMONS_TURN.has(blocker.cause) ||
  blocker.fix?.daemonFlags !== undefined;

/**
 * Returns the blocker, completed or replaced by facts about daemons if it depends on them. Pure.
 * `now` is in ms since the epoch.
 * @param asked kind of the explained object, and the node of the work, if known
 */
export function besideDaemons(
  daemons: Daemons,
  blocker: Blocker,
  asked: { kind: string; node?: string | undefined },
  now: number,
): Blocker {
  if (!asksForDaemons(blocker)) return blocker;
  const absent = daemonAbsent(daemons, blocker, asked.node, now);
  if (absent !== undefined) {
    if (isDaemonsTurn(blocker)) return absent;
    const next = { when: 'once a daemon leads: none does now (stowage check cluster)' };
    return withDaemonFlags(daemons, { ...blocker, next });
  }
  return withDaemonFlags(daemons, controllerOff(daemons, blocker, asked.kind, now) ?? blocker);
}

function fixOf(deployments: readonly Deployment[]): Fix {
  const [deployment] = deployments;
  if (deployment === undefined) {
    return {
      say: 'Start the daemon where it ran, or install it in the cluster with stowage install.',
      run: ['stowage watch'],
    };
  }
  const { name, namespace = '' } = deployment.metadata;
  if (deployment.spec?.replicas === 0) {
    return {
      say: `Scale the Deployment ${namespace}/${name}, which has 0 replicas, to 1.`,
      run: [
        commandLine('kubectl', '-n', namespace, 'scale', `deployment/${name}`, '--replicas', '1'),
      ],
    };
  }
  const { message, hint, commands } = noDaemon(deployments);
  return { say: `${message}. ${hint}`, run: commands };
}
