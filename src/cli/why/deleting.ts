import type { PersistentVolume } from '../../api/core.ts';
import { READY_REASON } from '../../api/names.ts';
import { isUnused, whatHolds } from '../../controllers/volume/persistent-volume.ts';
import { parseJobName } from '../../model/job-name.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { commandLine, takeOff } from '../lib/command-line.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { foundIn } from '../lib/read-result.ts';
import { heldOn } from './attached.ts';
import { obstructionOf, sentenceOf } from './obstruction.ts';
import { isDeleting, isOurs, nextAttempt, nodeText, ownPv, sinceOf } from './state.ts';
import type { Blocker, Cause, Fix, VolumeFacts } from './types.ts';

const getCommand = (kind: string, name: string): string =>
  commandLine('kubectl', 'get', kind, name, '-o', 'yaml');

/** Finalizers of Kubernetes itself and of the snapshot API, which their owners remove. */
const ELSEWHERE = /^(?:kubernetes\.io|snapshot\.storage\.kubernetes\.io)\//;
/** Finalizers of Stowage, which only Stowage may remove: storage is in use, or not yet removed. */
const OWN = /^(?:stowage\.dev|storage\.metalk8s\.scality\.com)\//;

export const isForeign = (finalizer: string): boolean =>
  !ELSEWHERE.test(finalizer) && !OWN.test(finalizer);

/** Reports what blocks the deletion of a Volume. */
export const deleting: Cause = (known, now) => {
  const { volume } = known;
  if (!isDeleting(volume)) return undefined;
  const { name, finalizers = [], deletionTimestamp } = volume.metadata;
  const since = deletionTimestamp === undefined ? {} : { since: deletionTimestamp };
  if (!isOurs(volume)) {
    return {
      cause: 'ForeignFinalizer',
      holdup: `Stowage no longer holds it, but finalizers of other components remain: ${finalizers.join(', ')}`,
      ...since,
      next: { when: 'when they are removed' },
      fix: foreignFinalizers(['volume', name], finalizers, finalizers),
    };
  }
  const ready = readyOf(volume);
  const job = parseJobName(volume.status?.job);
  const held = obstructionOf(ready?.detail, { node: nodeOf(volume), volume });
  if (ready?.reason === READY_REASON.destructionError) {
    return {
      holdup: `its storage on ${nodeText(volume)} is not removed: ${sentenceOf(ready.message ?? '', held, held?.fix)}`,
      ...sinceOf(ready),
      next: nextAttempt(volume, now) ?? {
        when: 'automatically, after a backoff of up to 5 minutes',
      },
      cause: held?.cause ?? (held === undefined ? 'UnknownReason' : 'RemovalFailed'),
      reason: held?.reason,
      fix: held?.fix ?? { say: 'Check the log of the daemon for the Volume.' },
    };
  }
  if (job?.attempt !== undefined && job.kind !== 'UnprepareVolume') {
    return {
      cause: 'JobRunning',
      holdup: `job ${volume.status?.job} on ${nodeText(volume)} must end first${ready?.message ? `: ${ready.message}` : ''}`,
      ...since,
      next: { when: 'when the job has ended' },
    };
  }
  const pv = ownPv(known);
  const reclaimed = job?.kind === 'UnprepareVolume' && job.attempt === undefined;
  if (pv !== undefined && !reclaimed && !isUnused(pv)) return { ...since, ...heldPv(pv, known) };
  const [attachment] = volume.status?.attachments ?? [];
  if (attachment !== undefined) {
    const attached = heldOn(known, attachment);
    return {
      ...attached,
      holdup: `it must be detached before its storage is removed; ${attached.holdup}`,
    };
  }
  const next = nextAttempt(volume, now) ?? { when: 'when the removal has ended' };
  const fix = held?.fix?.run === undefined ? undefined : held.fix;
  const progress = ready?.message && sentenceOf(ready.message, held, fix);
  return {
    ...(held === undefined || fix === undefined
      ? { cause: 'RemovalRunning' }
      : { cause: held.cause ?? 'RemovalRunning', reason: held.reason, fix }),
    holdup: `its storage is being removed from ${nodeText(volume)}: ${progress || volume.status?.job || 'no progress is reported yet'}`,
    ...(ready === undefined ? since : sinceOf(ready)),
    next,
  };
};

/**
 * Returns the fix for finalizers that Stowage does not know: their purpose is known to their owners
 * only.
 * @param object as kubectl names it: kind, name, and `-n NAMESPACE`
 */
export const foreignFinalizers = (
  object: readonly string[],
  all: readonly string[],
  foreign: readonly string[],
): Fix => ({
  say: `Find the component that set ${foreign.join(', ')}: it removes them when it is done. Only if it no longer exists, remove them:`,
  run: [commandLine('kubectl', 'get', ...object, '-o', 'yaml'), takeOff(object, all, foreign)],
});

/**
 * Returns cause and fix of a deletion that is blocked by finalizers only.
 * @param object as kubectl names it: kind, name, and `-n NAMESPACE`
 */
export function heldByFinalizers(
  object: readonly string[],
  all: readonly string[],
): Pick<Blocker, 'cause' | 'fix'> {
  const foreign = all.filter(isForeign);
  if (foreign.length > 0)
    return { cause: 'ForeignFinalizer', fix: foreignFinalizers(object, all, foreign) };
  const own = all.filter((each) => OWN.test(each));
  if (own.length > 0) {
    return {
      cause: 'RemovalRunning',
      fix: {
        say: `Start the daemon if it is not running, else check its log. Stowage removes ${own.join(', ')} when its work on the object has ended.`,
        run: ['stowage watch'],
      },
    };
  }
  return {
    cause: 'ForeignFinalizer',
    fix: {
      say: 'Kubernetes removes these finalizers. If it does not, check the events of the object.',
      run: [commandLine('kubectl', 'describe', ...object)],
    },
  };
}

function heldPv(pv: PersistentVolume, known: VolumeFacts): Blocker {
  const claim = foundIn(known.claim);
  // A claim of that name with another PersistentVolume has other data.
  const isBound =
    pv.status?.phase === 'Bound' &&
    (claim?.spec.volumeName || pv.metadata.name) === pv.metadata.name;
  const bound = isBound ? claim : undefined;
  const why = `its PersistentVolume is in use: ${whatHolds(pv)}`;
  if (bound === undefined) {
    const { name: pvName, finalizers: all = [] } = pv.metadata;
    const others = all.filter(isForeign);
    const next = { when: 'when the PersistentVolume is no longer in use' };
    if (others.length > 0) {
      return {
        cause: 'ForeignFinalizer',
        chain: [{ kind: 'PersistentVolume', name: pvName }],
        holdup: why,
        next,
        fix: foreignFinalizers(['pv', pvName], all, others),
      };
    }
    return {
      cause: 'PersistentVolumeHeld',
      holdup: why,
      next,
      fix: { say: 'Check what uses the PersistentVolume:', run: [getCommand('pv', pvName)] },
    };
  }
  const { namespace = '', name, deletionTimestamp, finalizers = [] } = bound.metadata;
  const pods = (foundIn(known.pods) ?? []).map((pod) => pod.metadata.name);
  const chain = [{ kind: 'PersistentVolumeClaim', namespace, name }];
  const using = pods.length === 0 ? '' : `, which these pods use: ${pods.join(', ')}`;
  if (deletionTimestamp === undefined) {
    return {
      cause: 'ClaimHoldsDeletion',
      chain,
      holdup: `${why}${using}`,
      next: { when: 'when the claim is gone' },
      fix: {
        say: 'If the data is not needed, delete the claim and the workload that uses it.',
        run: [commandLine('kubectl', 'delete', 'pvc', name, '-n', namespace)],
      },
    };
  }
  return {
    holdup: `${why}, which is being deleted${pods.length === 0 ? ` and waits for the finalizers ${finalizers.join(', ')}` : ` and used by the pods ${pods.join(', ')}`}`,
    chain,
    since: deletionTimestamp,
    next: { when: 'when the claim is gone' },
    ...(pods.length === 0
      ? heldByFinalizers(['pvc', name, '-n', namespace], finalizers)
      : {
          cause: 'PodsHoldDeletion' as const,
          fix: {
            say: 'Scale down the workload of the pods, else it creates them again. Then delete the pods.',
            run: [commandLine('kubectl', 'delete', 'pod', '-n', namespace, ...pods)],
          },
        }),
  };
}
