import type { AnyEvent } from '../../../api/core.ts';
import { NO_PROVISIONER, ROOM_EVENT } from '../../../api/names.ts';
import { parseQuantity } from '../../../api/quantity.ts';
import type { ReasonCode } from '../../../api/reasons.ts';
import { commandLine } from '../../lib/command-line.ts';
import { isOwn } from '../../lib/objects/events.ts';
import { lastSeen } from '../../lib/objects/related.ts';
import { readyOf } from '../../lib/objects/volume-progress.ts';
import { foundIn } from '../../lib/read-result.ts';
import { diagnose } from '../diagnose.ts';
import { MAKE_ROOM } from '../fixes/claims.ts';
import { reasonOf } from '../pod/supply.ts';
import { type Blocker, type Diagnosis, through } from '../types.ts';
import { refusedAttributes } from './attributes.ts';
import { bypassed } from './bypassed.ts';
import { consumerOf } from './consumer.ts';
import { deletingClaim } from './deleting.ts';
import { eventBlocker, eventCause, nodeIn, reasonIn } from './event.ts';
import { type ClaimFacts, claimName, describeCommand } from './facts.ts';
import { population } from './population.ts';
import { cancelling } from './populator-pod.ts';
import { isNoRoomMessage } from './scheduler-words.ts';
import { source, sourceAway } from './source.ts';
import { isClassName, storageClass } from './storage-class.ts';

/** Check for one possible blocker of a claim. `now` is in ms since the epoch. */
type ClaimCause = (known: ClaimFacts, now: number) => Blocker | undefined;

const WITHIN_SECONDS = { when: 'within seconds, if a daemon runs' };

const sinceMade = ({ claim }: ClaimFacts): Pick<Blocker, 'since'> =>
  claim.metadata.creationTimestamp === undefined ? {} : { since: claim.metadata.creationTimestamp };

const lost: ClaimCause = (known) =>
  known.claim.status?.phase !== 'Lost'
    ? undefined
    : {
        cause: 'ClaimLost',
        holdup: `its PersistentVolume ${known.claim.spec.volumeName} is ${foundIn(known.pv) === undefined ? 'gone' : 'no longer bound to it'}`,
        next: { when: 'never: a claim is bound once' },
        fix: {
          say: 'Restore the data to a claim of another name, or delete this claim.',
          run: [describeCommand(known)],
        },
      };

const attributes: ClaimCause = ({ claim, storageClass }) =>
  refusedAttributes(claim, foundIn(storageClass));

/** Reports blockers of a claim whose class is for Volumes created by hand. */
const supplied: ClaimCause = (known) => {
  const provisioner = foundIn(known.storageClass)?.provisioner;
  const isName = isClassName(known);
  if (known.claim.spec.storageClassName !== '' && provisioner !== NO_PROVISIONER && !isName)
    return undefined;
  const { dataSourceRef, dataSource } = known.claim.spec;
  if ((dataSourceRef ?? dataSource) != null) {
    return {
      cause: 'SourceRefused',
      holdup: `its data source is a ${(dataSourceRef ?? dataSource)?.kind}, but its storage class is for volumes created by hand, which are not filled`,
      ...sinceMade(known),
      next: { when: 'never: any free volume may be bound to it' },
      fix: {
        say: 'Delete the claim, and create it again with a dynamic storage class.',
        run: [
          commandLine(
            'kubectl',
            'delete',
            'pvc',
            known.claim.metadata.name,
            '-n',
            known.claim.metadata.namespace ?? '',
          ),
          'stowage create storageclass NAME --dynamic',
        ],
      },
    };
  }
  const placed = placedPod(known);
  if (placed !== undefined) return placed;
  const { why, fix } = reasonOf(known.claim, known.supply, isName);
  return {
    cause: 'NoFreeVolume',
    holdup: why,
    ...sinceMade(known),
    next: { when: 'when a PersistentVolume fits, within seconds' },
    fix,
  };
};

/** Reports the blocker of the Volume that is provisioned for the claim. */
const itsVolume: ClaimCause = ({ volume, known }, now) => {
  const found = foundIn(volume);
  if (found === undefined || known === undefined) return undefined;
  const diagnosis = diagnose(known, now);
  // This claim blocks the deletion of its Volume, and can be used as before.
  if ('nothing' in diagnosis || diagnosis.cause === 'ClaimHoldsDeletion') return undefined;
  const { name } = found.metadata;
  return through(
    { kind: 'Volume', name },
    { ...diagnosis, holdup: `its Volume ${name}: ${diagnosis.holdup}` },
  );
};

const unbound: ClaimCause = (known) => {
  const found = foundIn(known.volume);
  if (found === undefined || readyOf(found)?.status !== 'True') return undefined;
  return {
    cause: 'NotBound',
    holdup: `its Volume ${found.metadata.name} is Available, but the claim is not bound to it yet`,
    ...sinceMade(known),
    next: WITHIN_SECONDS,
    fix: { say: 'If this persists, check the events of the claim.', run: [describeCommand(known)] },
  };
};

const placedPod = ({ claim, storageClass, pods }: ClaimFacts): Blocker | undefined =>
  bypassed(claim, foundIn(storageClass), foundIn(pods) ?? []);

/** Reports a claim whose class waits for a pod: provisioning follows the scheduler's decision. */
const noPod: ClaimCause = (known) => {
  const waits = foundIn(known.storageClass)?.volumeBindingMode === 'WaitForFirstConsumer';
  const { name, namespace = '', annotations = {} } = known.claim.metadata;
  const node = annotations['volume.kubernetes.io/selected-node'];
  const using = foundIn(known.pods);
  if (!waits || (node !== undefined && (using === undefined || using.length > 0))) return undefined;
  const placed = placedPod(known);
  if (placed !== undefined) return placed;
  const refused = noNode(known);
  const [pod] = (using ?? []).filter(({ spec }) => !spec.nodeName);
  if (pod === undefined) {
    return {
      cause: 'NoConsumer',
      holdup: `its storage class waits for the first pod that uses the claim, and there is none${node === undefined ? '' : `: node ${node} is selected for no pod`}`,
      ...sinceMade(known),
      next: { when: 'when a pod that uses it is scheduled' },
      fix: {
        say: `Create a pod in namespace ${namespace} that uses claim ${name}, for example this one, which does nothing else.`,
        manifest: consumerOf(known.claim),
      },
    };
  }
  return {
    cause: refused?.cause ?? 'NotScheduled',
    chain: [{ kind: 'Pod', namespace, name: pod.metadata.name }],
    reason: refused?.reason,
    holdup: `no node is selected for pod ${pod.metadata.name}, which uses it${refused === undefined ? '' : `; last reported: ${refused.holdup}`}`,
    ...sinceMade(known),
    next: { when: 'when a node is selected for the pod' },
    // The scheduler waits for the same as the claim if that is about nodes.
    fix: (isOfNodes(refused) ? refused?.fix : undefined) ?? {
      say: 'Find out why the pod is not scheduled.',
      run: [commandLine('stowage', 'why', 'pod', `${namespace}/${pod.metadata.name}`)],
    },
  };
};

/**
 * Returns why no node is found for a claim that waits for its first pod, as far as the daemon and
 * the scheduler report that.
 */
const noNode = (known: ClaimFacts): Blocker | undefined =>
  lastWarning(known) ?? roomUnknown(known) ?? noRoom(known);

/**
 * Reports that the scheduler finds no node, by the capacity that the daemon publishes: no event on
 * the claim shows that.
 */
function noRoom(known: ClaimFacts): Blocker | undefined {
  const conditions = (foundIn(known.pods) ?? []).flatMap(({ status }) => status?.conditions ?? []);
  const unschedulable = conditions.find(
    ({ type, status, message = '' }) =>
      type === 'PodScheduled' && status === 'False' && isNoRoomMessage(message),
  );
  return unschedulable === undefined
    ? undefined
    : {
        cause: 'NoRoom',
        holdup: 'the scheduler finds no node that can run its pod and has enough free space',
        ...(unschedulable.lastTransitionTime === undefined
          ? {}
          : { since: unschedulable.lastTransitionTime }),
        next: { when: 'within minutes, once a node has enough free space' },
        fix: MAKE_ROOM,
      };
}

/** Reports whether a blocker is about nodes without room for the claim, and hence for its pod. */
const isOfNodes = (refused: Blocker | undefined): boolean =>
  ['NoRoom', 'RoomUnknown', 'NodeNotReady', 'FreeExtentsCarryData'].includes(refused?.cause ?? '');

/** Reports nodes with unknown capacity, which the scheduler treats as nodes without capacity. */
function roomUnknown({ classEvents, storageClass }: ClaimFacts): Blocker | undefined {
  const last = new Map<string | undefined, AnyEvent>();
  // An earlier daemon names the node in the message only.
  for (const event of (classEvents && foundIn(classEvents)) ?? [])
    if (isOwn(event)) last.set(nodeIn(event), event);
  const found = [...last].find(([, { reason }]) => reason === ROOM_EVENT.unknown);
  if (found === undefined) return undefined;
  const [node, event] = found;
  const since = event.firstTimestamp ?? event.eventTime ?? lastSeen(event);
  return {
    cause: 'RoomUnknown',
    holdup: event.message ?? '',
    ...(since ? { since } : {}),
    next: { when: 'within a minute, once the node reports its free space' },
    fix: {
      say: 'Check the node, and the events of the class. Until its free space is known, the scheduler counts none there.',
      run: [
        ...(node === undefined ? [] : [commandLine('stowage', 'check', 'node', node)]),
        commandLine(
          'kubectl',
          'describe',
          'storageclass',
          foundIn(storageClass)?.metadata.name ?? '',
        ),
      ],
    },
  };
}

/** Reports the daemon's last warning. Older reasons disappear with their events, after an hour. */
function lastWarning(known: ClaimFacts): Blocker | undefined {
  const events = foundIn(known.events);
  // The PersistentVolume controller repeats that the claim waits for the daemon.
  const last = events?.findLast(isOwn) ?? events?.at(-1);
  if (last?.type !== 'Warning') return undefined;
  const since = last.firstTimestamp ?? last.eventTime ?? lastSeen(last);
  return {
    cause: eventCause(last, 'ProvisioningFailed'),
    reason: reasonIn(last),
    ...eventBlocker(known, last),
    ...(since ? { since } : {}),
    next: {
      when: 'automatically, after a backoff of up to 5 minutes, or when an object that it waits for changes',
    },
  };
}

const unseen: ClaimCause = (known) => {
  const controller = known.population?.definitions.length ? 'populator' : 'claim';
  return {
    cause: 'NotTakenUp',
    holdup: 'no daemon has processed it yet',
    ...sinceMade(known),
    next: WITHIN_SECONDS,
    controller,
    fix: {
      say: `Start the daemon with its controller ${controller}. If it is running, check its log.`,
      run: ['stowage watch'],
    },
  };
};

/** Causes that do not depend on a pod. In both lists, each cause makes later ones irrelevant. */
const WITHOUT_POD: readonly ClaimCause[] = [
  storageClass,
  population,
  source,
  sourceAway,
  itsVolume,
  unbound,
];
const OF_UNBOUND: readonly ClaimCause[] = [
  ...[lost, attributes, supplied, ...WITHOUT_POD],
  ...[noPod, lastWarning, unseen],
];

/** Reports an incomplete expansion. */
const growing: ClaimCause = (known) => {
  const { spec, status } = known.claim;
  const [asked, has] = [spec.resources?.requests?.storage ?? '0', status?.capacity?.storage ?? '0'];
  if (parseQuantity(asked) <= parseQuantity(has)) return undefined;
  const condition = status?.conditions?.find(
    (each) => /Resiz/.test(each.type) && each.status === 'True',
  );
  const since = condition?.lastTransitionTime;
  const warning = condition?.message ? undefined : lastWarning(known);
  const reason = condition?.message || warning?.holdup;
  return {
    cause: 'NotGrown',
    holdup: `it is usable, but has ${has} of the requested ${asked}${reason ? `: ${reason}` : ''}`,
    ...(since === undefined ? {} : { since }),
    reason: warning?.reason,
    next: { when: 'automatically, if a daemon runs and the node has enough free space' },
    fix: warning?.fix ?? { say: 'Check the events of the claim.', run: [describeCommand(known)] },
  };
};

/** Reports a bound claim whose volume lacks the requested data. */
const empty: ClaimCause = (known) => {
  const { source: found } = known;
  if (found === undefined || !('refuse' in found)) return undefined;
  const { reason, refusal } = found.refuse;
  if (reason.code !== ('SourceDropped' satisfies ReasonCode)) return undefined;
  const { name, namespace = '' } = known.claim.metadata;
  return {
    cause: 'SourceDropped',
    holdup: `its volume was created empty: ${refusal}`,
    ...sinceMade(known),
    next: { when: 'never: the claim must be created again' },
    fix: {
      say: 'If its data is not needed, delete the claim. Then restore it with stowage restore snapshot, which verifies that the source is kept.',
      run: [commandLine('kubectl', 'delete', 'pvc', name, '-n', namespace)],
    },
  };
};

/** Returns the first blocker of a claim. Pure. `now` is in ms since the epoch. */
export function diagnoseClaim(known: ClaimFacts, now: number): Diagnosis {
  const phase = known.claim.status?.phase ?? 'Pending';
  const causes =
    phase === 'Bound'
      ? [deletingClaim, empty, itsVolume, growing]
      : [cancelling, deletingClaim, ...OF_UNBOUND];
  for (const cause of causes) {
    const found = cause(known, now);
    if (found !== undefined) return found;
  }
  const { claim } = known;
  return {
    nothing: `PersistentVolumeClaim ${claimName(claim)} is Bound to ${claim.spec.volumeName}: nothing holds it up`,
  };
}

/**
 * Returns the blocker of a claim that a pod waits for; undefined if the claim waits for that pod,
 * or has a static class that exists. Pure.
 */
export function ofPod(known: ClaimFacts, now: number): Blocker | undefined {
  const isStatic = foundIn(known.storageClass)?.provisioner === NO_PROVISIONER;
  if (isStatic || known.claim.status?.phase === 'Bound') return undefined;
  for (const cause of [deletingClaim, lost, attributes, supplied, ...WITHOUT_POD]) {
    const found = cause(known, now);
    if (found !== undefined) return found;
  }
  const placed = placedPod(known);
  if (placed !== undefined) return placed;
  return noPod(known, now) === undefined
    ? (lastWarning(known) ?? unseen(known, now))
    : noNode(known);
}
