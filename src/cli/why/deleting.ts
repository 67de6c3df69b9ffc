import type { PersistentVolume } from '../../api/core.ts';
import { READY_REASON } from '../../api/names.ts';
import { parseJobName } from '../../volumes/job-name.ts';
import { isUnused, whatHolds } from '../../volumes/persistent-volume.ts';
import { readyOf } from '../volume/describe.ts';
import { foundIn } from '../volume/reading.ts';
import { heldOn } from './attached.ts';
import { commandLine } from './command-line.ts';
import { isDeleting, isOurs, nextAttempt, nodeText, ownPv, sinceOf } from './state.ts';
import type { Cause, Holdup, Known } from './types.ts';

const look = (kind: string, name: string): string => commandLine('kubectl', 'get', kind, name, '-o', 'yaml');

/** What keeps a Volume that is being deleted. */
export const deleting: Cause = (known, now) => {
  const { volume } = known;
  if (!isDeleting(volume)) return undefined;
  const { name, finalizers = [], deletionTimestamp } = volume.metadata;
  const since = deletionTimestamp === undefined ? {} : { since: deletionTimestamp };
  if (!isOurs(volume)) {
    return {
      holdup: `Stowage is done with it, and finalizers of others hold it: ${finalizers.join(', ')}`,
      ...since,
      next: { when: 'when they are taken off' },
      fix: { say: 'Whoever set a finalizer takes it off. See who that is:', run: [look('volume', name)] },
    };
  }
  const ready = readyOf(volume);
  const job = parseJobName(volume.status?.job);
  if (ready?.reason === READY_REASON.destructionError) {
    return {
      holdup: `what it has on ${nodeText(volume)} is not removed: ${ready.message}`,
      ...sinceOf(ready),
      next: nextAttempt(volume, now) ?? { when: 'by itself, after a delay that grows to 5 minutes' },
      fix: { say: 'Put right what the message names. Nothing else is needed.' },
    };
  }
  if (job?.attempt !== undefined && job.kind !== 'UnprepareVolume') {
    return {
      holdup: `${volume.status?.job} must end first on ${nodeText(volume)}${ready?.message ? `: ${ready.message}` : ''}`,
      ...since,
      next: { when: 'when that has ended' },
    };
  }
  const pv = ownPv(known);
  const reclaimed = job?.kind === 'UnprepareVolume' && job.attempt === undefined;
  if (pv !== undefined && !reclaimed && !isUnused(pv)) return { ...since, ...heldPv(pv, known) };
  const [attachment] = volume.status?.attachments ?? [];
  if (attachment !== undefined) {
    const held = heldOn(volume, attachment);
    return { ...held, holdup: `it is to be detached before its storage is removed; ${held.holdup}` };
  }
  const next = nextAttempt(volume, now) ?? { when: 'by itself, when that has ended' };
  return {
    holdup: `its storage is being removed from ${nodeText(volume)}: ${ready?.message || volume.status?.job || 'nothing is reported yet'}`,
    ...(ready === undefined ? since : sinceOf(ready)),
    next,
  };
};

function heldPv(pv: PersistentVolume, known: Known): Holdup {
  const bound = pv.status?.phase === 'Bound' ? foundIn(known.claim) : undefined;
  const why = `its PersistentVolume is in use: ${whatHolds(pv)}`;
  if (bound === undefined) {
    return {
      holdup: why,
      next: { when: 'when nothing holds it any more' },
      fix: { say: 'See who holds the PersistentVolume:', run: [look('pv', pv.metadata.name)] },
    };
  }
  const { namespace = '', name, deletionTimestamp, finalizers = [] } = bound.metadata;
  const pods = (foundIn(known.pods) ?? []).map((pod) => pod.metadata.name);
  const using = pods.length === 0 ? '' : `, which these pods use: ${pods.join(', ')}`;
  if (deletionTimestamp === undefined) {
    return {
      holdup: `${why}${using}`,
      next: { when: 'when the claim is gone' },
      fix: {
        say: 'If the data is not needed, delete the claim, and what uses it.',
        run: [commandLine('kubectl', 'delete', 'pvc', name, '-n', namespace)],
      },
    };
  }
  return {
    holdup: `${why}, which is being deleted${pods.length === 0 ? `, and held by its finalizers ${finalizers.join(', ')}` : ` and used by pods: ${pods.join(', ')}`}`,
    since: deletionTimestamp,
    next: { when: 'when the claim is gone' },
    fix:
      pods.length === 0
        ? {
            say: 'Whoever set a finalizer takes it off. See who that is:',
            run: [commandLine('kubectl', 'get', 'pvc', name, '-n', namespace, '-o', 'yaml')],
          }
        : {
            say: 'End the pods, by scaling down what made them; else they are made again.',
            run: [commandLine('kubectl', 'delete', 'pod', '-n', namespace, ...pods)],
          },
  };
}
