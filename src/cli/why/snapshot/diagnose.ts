import type { AnyEvent } from '../../../api/core.ts';
import { isDnsSubdomain } from '../../../api/dns-name.ts';
import { DRIVER, SNAPSHOT_FINALIZERS, VOLUME_API_VERSION } from '../../../api/names.ts';
import { parametersIn } from '../../../api/reasons/template.ts';
import { entryOf, type Reason, reasonOfAnnotations } from '../../../api/reasons.ts';
import type { SnapshotError, VolumeSnapshot } from '../../../api/snapshot.ts';
import { detailOf } from '../../../controllers/snapshot/status.ts';
import { commandLine } from '../../lib/command-line.ts';
import { eventText, isOwn } from '../../lib/objects/events.ts';
import { lastSeen } from '../../lib/objects/related.ts';
import { foundIn } from '../../lib/read-result.ts';
import { heldByFinalizers } from '../deleting.ts';
import { type Obstruction, obstructionOf, sentenceOf } from '../obstruction.ts';
import type { Blocker, Diagnosis, Fix } from '../types.ts';
import { snapshotClass } from './class.ts';
import type { SnapshotFacts } from './read.ts';

/** Check for one possible blocker of a snapshot. */
type SnapshotCause = (known: SnapshotFacts) => Blocker | undefined;

/** Fix for a reason without a known one. */
const CHECK_LOG: Fix = { say: 'Check the log of the daemon for the snapshot.' };

const BY_ITSELF = { when: 'automatically, after a backoff of up to 5 minutes' };

export const sinceMade = ({ metadata }: VolumeSnapshot): Pick<Blocker, 'since'> =>
  metadata.creationTimestamp === undefined ? {} : { since: metadata.creationTimestamp };

const yamlOf = ({ metadata }: VolumeSnapshot): string =>
  commandLine(
    'kubectl',
    'get',
    'volumesnapshot',
    metadata.name,
    '-n',
    metadata.namespace ?? '',
    '-o',
    'yaml',
  );

/** Returns cause and fix of the daemon's reason; undefined for none or an unknown one. */
function explained(detail: Reason | undefined): Obstruction | undefined {
  const { node = '' } = detail?.parameters ?? {};
  const found = obstructionOf(detail, { node });
  // No command names a node whose name is invalid.
  return found && node !== '' && !isDnsSubdomain(node) ? { ...found, fix: undefined } : found;
}

/**
 * Does the same for an event. Users who may write events in the namespace can name any reason with
 * any parameters: these appear in no command and no advice.
 */
function eventObstruction(event: AnyEvent): Obstruction | undefined {
  const found = isOwn(event)
    ? explained(reasonOfAnnotations(event.metadata.annotations))
    : undefined;
  if (found === undefined) return undefined;
  const { action = '' } = entryOf(found.reason) ?? {};
  const isPlain = action !== '' && parametersIn(action).length === 0;
  return { ...found, fix: isPlain ? { say: action } : undefined };
}

const deleting: SnapshotCause = ({ snapshot, content }) => {
  const { deletionTimestamp: since, finalizers = [], namespace = '' } = snapshot.metadata;
  if (since === undefined) return undefined;
  if (finalizers.includes(SNAPSHOT_FINALIZERS.asSource)) {
    return {
      cause: 'UsedAsSource',
      holdup: 'it is being deleted, and a claim is being created from it',
      since,
      next: { when: 'when that claim is bound, or deleted' },
      fix: {
        say: 'Check which Pending claims have it as their source, also in other namespaces.',
        run: [commandLine('stowage', 'get', 'grants', '-n', namespace), 'kubectl get pvc -A'],
      },
    };
  }
  const found = foundIn(content);
  const error = found?.status?.error?.message;
  const why = found && explained(detailOf(found));
  if (found !== undefined && finalizers.includes(SNAPSHOT_FINALIZERS.bound)) {
    return {
      cause: 'RemovalFailed',
      holdup: `it is being deleted, and its content ${found.metadata.name} still exists${error ? `: ${sentenceOf(error, why, why?.fix)}` : ''}`,
      since,
      next: BY_ITSELF,
      fix: error
        ? (why?.fix ?? CHECK_LOG)
        : { say: 'Start the daemon if it is not running.', run: ['stowage watch'] },
    };
  }
  return {
    holdup: `it is being deleted, and waits for the finalizers ${finalizers.join(', ')}`,
    since,
    next: { when: 'when they are removed' },
    ...heldByFinalizers(['volumesnapshot', snapshot.metadata.name, '-n', namespace], finalizers),
  };
};

/** Reports a claim that no snapshot can be taken of yet. */
const source: SnapshotCause = ({ snapshot, claim: read, pv }) => {
  const { persistentVolumeClaimName: name } = snapshot.spec.source;
  const { namespace = '' } = snapshot.metadata;
  if (name === undefined) return undefined;
  const since = sinceMade(snapshot);
  if ('absent' in read) {
    return {
      cause: 'ClaimMissing',
      holdup: `there is no claim ${name} in namespace ${namespace}`,
      ...since,
      next: { when: 'when there is such a claim' },
      fix: {
        say: 'Create the snapshot again with the name of an existing claim: its source is immutable.',
        run: [commandLine('kubectl', 'get', 'pvc', '-n', namespace)],
      },
    };
  }
  const claim = foundIn(read);
  if (claim === undefined) return undefined;
  if (claim.status?.phase !== 'Bound') {
    return {
      cause: 'ClaimUnbound',
      chain: [{ kind: 'PersistentVolumeClaim', namespace, name }],
      holdup: `its claim ${name} is ${claim.status?.phase ?? 'Pending'}, and has no volume yet`,
      ...since,
      next: { when: 'when the claim is bound' },
      fix: {
        say: 'Find out what holds up the claim.',
        run: [commandLine('stowage', 'why', 'pvc', `${namespace}/${name}`)],
      },
    };
  }
  const owners = foundIn(pv)?.metadata.ownerReferences;
  const isOurs = owners?.some(
    ({ kind, apiVersion }) => kind === 'Volume' && apiVersion === VOLUME_API_VERSION,
  );
  if (foundIn(pv) === undefined || isOurs) return undefined;
  return {
    cause: 'ForeignProvisioner',
    holdup: `the volume ${claim.spec.volumeName} of its claim ${name} is not a volume of Stowage`,
    ...since,
    next: { when: 'when the driver of that volume takes the snapshot' },
    fix: {
      say: 'Stowage takes snapshots of its own volumes only. Check the status that its driver reports.',
      run: [yamlOf(snapshot)],
    },
  };
};

/** Reports problems of content that was written by hand for an existing snapshot. */
const written: SnapshotCause = ({ snapshot, content: read }) => {
  const { namespace, name } = snapshot.metadata;
  const content = foundIn(read);
  const named = snapshot.spec.source.volumeSnapshotContentName;
  if (named !== undefined && 'absent' in read) {
    return {
      cause: 'ContentMissing',
      holdup: `its content ${named} does not exist`,
      ...sinceMade(snapshot),
      next: { when: 'when that content is created' },
      fix: {
        say: `Create VolumeSnapshotContent ${named}, with a volumeSnapshotRef to ${namespace}/${name}.`,
      },
    };
  }
  if (content === undefined) return undefined;
  const { volumeSnapshotRef: ref, driver } = content.spec;
  const isOther = ref.namespace !== namespace || ref.name !== name;
  if (!isOther && (ref.uid === undefined || ref.uid === snapshot.metadata.uid)) {
    if (driver === DRIVER) return undefined;
    return {
      cause: 'ForeignProvisioner',
      holdup: `its content ${content.metadata.name} is of the driver ${driver}, not of Stowage`,
      ...sinceMade(snapshot),
      next: { when: `when ${driver} has taken it` },
      fix: { say: 'Check the status that the driver reports.', run: [yamlOf(snapshot)] },
    };
  }
  return {
    cause: 'ContentMismatch',
    holdup: `its content ${content.metadata.name} belongs to another snapshot, ${ref.namespace}/${ref.name}${isOther ? '' : `, which had the UID ${ref.uid}`}`,
    ...sinceMade(snapshot),
    next: { when: 'never: a content belongs to one snapshot' },
    fix: {
      say: 'Create another content with the same snapshot handle, and this snapshot, without a UID, as its volumeSnapshotRef. Then create the snapshot again, with that content as its source.',
      run: [
        commandLine('kubectl', 'get', 'volumesnapshotcontent', content.metadata.name, '-o', 'yaml'),
      ],
    },
  };
};

const failed: SnapshotCause = ({ snapshot, content: read, events }) => {
  const content = foundIn(read);
  const error: SnapshotError | undefined = snapshot.status?.error ?? content?.status?.error;
  const last = foundIn(events)?.at(-1);
  const warning = last?.type === 'Warning' ? last : undefined;
  const message = error?.message ?? (warning && (warning.message ?? ''));
  if (message === undefined) return undefined;
  const since = error?.time ?? (warning && lastSeen(warning));
  const found =
    content?.status?.error === undefined
      ? warning && eventObstruction(warning)
      : explained(detailOf(content));
  const text = sentenceOf(message, found, found?.fix);
  return {
    cause: found === undefined ? 'UnknownReason' : (found.cause ?? 'SnapshotFailing'),
    reason: found?.reason,
    holdup: error === undefined && warning ? eventText({ ...warning, message: text }) : text,
    ...(since ? { since } : sinceMade(snapshot)),
    next: BY_ITSELF,
    fix: found?.fix ?? CHECK_LOG,
  };
};

const making: SnapshotCause = ({ snapshot, content: read }) => {
  const content = foundIn(read);
  const taken = content?.status?.readyToUse === true;
  const what =
    content === undefined
      ? 'no daemon has processed it yet'
      : taken
        ? `its content ${content.metadata.name} is ready, but the status of the snapshot is not updated yet`
        : `its content ${content.metadata.name} is being created on the node`;
  return {
    cause: 'SnapshotBeingTaken',
    holdup: what,
    ...sinceMade(snapshot),
    next: { when: 'within seconds, if a daemon runs' },
    fix: {
      say: taken
        ? 'Start the daemon, unless another snapshot-controller runs, which updates the status.'
        : 'If this persists, check that the daemon runs, and its log for this snapshot.',
      run: ['stowage watch'],
    },
  };
};

/** Returns the first blocker of a snapshot. Pure. */
export function diagnoseSnapshot(known: SnapshotFacts): Diagnosis {
  const { namespace, name } = known.snapshot.metadata;
  const ready = known.snapshot.status?.readyToUse === true;
  const causes = ready ? [deleting] : [deleting, snapshotClass, source, written, failed, making];
  for (const cause of causes) {
    const found = cause(known);
    if (found !== undefined) return found;
  }
  return { nothing: `VolumeSnapshot ${namespace}/${name} is ready: claims can be created from it` };
}
