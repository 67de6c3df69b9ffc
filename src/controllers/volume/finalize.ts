import type { PersistentVolume } from '../../api/core.ts';
import { PROTECTION_FINALIZER, READY_REASON } from '../../api/names.ts';
import { explain, type Reason, shownAs } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { desiredOf } from '../../model/desired-volume.ts';
import { parseJobName } from '../../model/job-name.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { RETRY } from '../../model/retry.ts';
import { hasPlace } from '../../model/validate-volume.ts';
import { attachmentDisabled, attachmentsOf } from './attached.ts';
import { cancelSteps } from './fill-progress.ts';
import { jobStep } from './job-phase.ts';
import {
  advance,
  endJob,
  reasonOfAttempt,
  report,
  startAttempt,
  untilJobEnds,
} from './job-retry.ts';
import { isNodeForgotten, leftoverOf } from './leftover.ts';
import { isUnused, whatHolds } from './persistent-volume.ts';
import type { Ready } from './status.ts';
import type { Decision, Input } from './types.ts';

const terminating: Ready = { status: 'Unknown', reason: READY_REASON.terminating, message: '' };

/** A Volume that is being deleted: the chart "Volume Finalization" of the specification. */
export function finalize(input: Input, now: number): Decision {
  const { volume } = input;
  const pv = input.pv !== undefined && isPvOf(input.pv, volume) ? input.pv : undefined;
  const name = parseJobName(volume.status?.job);

  if (!isNodeForgotten(volume)) {
    const pending = endOfEarlierJob(input, now);
    if (pending !== undefined) return pending;
  }
  const reclaimed = name?.kind === 'UnprepareVolume' && name.attempt === undefined;
  if (!reclaimed && pv !== undefined) {
    if (pv.metadata.deletionTimestamp === undefined) return { action: { do: 'delete-pv' } };
    if (!isUnused(pv)) {
      return report(
        volume,
        now,
        volume.status?.phase,
        { ...terminating, ...explain('PersistentVolumeInUse', { holder: whatHolds(pv) }) },
        { requeueAfter: RETRY.recheckSoon },
      );
    }
  }
  if (reclaimed || wasNeverMade(volume, pv)) return release(pv);
  const attached = isNodeForgotten(volume) ? undefined : stillAttached(input, now);
  if (attached !== undefined) return attached;
  return isNodeForgotten(volume) ? forgetNode(input, pv, now) : reclaimStorage(input, pv, now);
}

/** Who attached the device is the one to detach it, on whichever node; a change of where it is wakes us. */
function stillAttached({ volume, attachmentEnabled }: Input, now: number): Decision | undefined {
  const places = attachmentsOf(volume).map(({ node, message, pods = [] }) => {
    const why = message ?? (pods.length > 0 ? `pods need it there: ${pods.join(', ')}` : undefined);
    return why === undefined ? node : `${node}: ${why}`;
  });
  if (places.length === 0) return undefined;
  const still = explain('VolumeStillAttached', { nodes: places.join('; ') });
  const ready = attachmentEnabled
    ? { ...terminating, ...still }
    : attachmentDisabled(still.message);
  return report(volume, now, 'Terminating', ready, { requeueAfter: RETRY.recheckSoon });
}

/** The node is not asked. What it may still have is written down before anything is let go of. */
function forgetNode(input: Input, pv: PersistentVolume | undefined, now: number): Decision {
  const { volume, kept } = input;
  if (kept === undefined) return { action: { do: 'keep-leftover', leftover: leftoverOf(volume) } };
  if ('as' in kept) return release(pv);
  const why = explain('LeftoverRefused', { problem: kept.problem });
  return report(volume, now, undefined, { ...terminating, ...why }, { retry: true });
}

/** The chart "ReclaimStorage": what is on the node goes, then the objects. */
export function reclaimStorage(
  input: Input,
  pv: PersistentVolume | undefined,
  now: number,
): Decision {
  const name = parseJobName(input.volume.status?.job);
  if (name?.kind !== 'UnprepareVolume') {
    return startAttempt(input.volume, now, 'UnprepareVolume', 1, 'Terminating', terminating);
  }
  return name.attempt === undefined ? release(pv) : reclaim(input, name.attempt, now);
}

/**
 * There is no place where anything could be. A status that names no job says nothing: it may have been lost, with all it
 * named, or be of before a backup was restored. Only the node tells.
 */
function wasNeverMade(volume: Volume, pv: PersistentVolume | undefined): boolean {
  const { attempt, prepared } = volume.status ?? {};
  return !hasPlace(volume) && [attempt, prepared, pv].every((trace) => trace === undefined);
}

/** Lets go of the PersistentVolume, then of the Volume: both vanish. */
function release(pv: PersistentVolume | undefined): Decision {
  const held = pv?.metadata.finalizers?.includes(PROTECTION_FINALIZER) ?? false;
  return { action: { do: held ? 'release-pv' : 'release-volume' } };
}

/** A job that makes or attaches is waited for: what it leaves can only be taken back once it has ended. */
export function endOfEarlierJob(input: Input, now: number): Decision | undefined {
  const { volume, job, cancelled } = input;
  const name = parseJobName(volume.status?.job);
  if (name?.attempt === undefined || name.kind === 'UnprepareVolume') return undefined;
  const isRunning = job !== undefined && 'known' in job && job.known.state === 'running';
  const steps = isRunning && !cancelled ? cancelSteps(input) : [];
  return steps.length > 0
    ? { action: { do: 'cancel', steps } }
    : untilJobEnds(input, now, terminating);
}

/** A failed try is tried again: only then nothing is left behind. */
function reclaim(input: Input, attempt: number, now: number): Decision {
  const { volume } = input;
  const { kubeletRoot } = input;
  const desired = {
    ...desiredOf(volume, undefined, input.node),
    ...(kubeletRoot && { kubeletRoot }),
  };
  const step = jobStep(input, 'delete', desired);
  const next = advance(input, step, attempt, now);
  if (next !== undefined) return next;
  switch (step.is) {
    case 'running':
      return report(
        volume,
        now,
        'Terminating',
        { ...terminating, ...explain('JobStepRuns', { step: step.message }) },
        { follow: true },
      );
    case 'done':
      return endJob(input, 'UnprepareVolume', now, terminating, {}, 'Terminating');
    case 'refused': {
      const { message, reason: detail } = step;
      const reason = shownAs(detail) ?? terminating.reason;
      return step.plan.retryable
        ? report(
            volume,
            now,
            'Terminating',
            { ...terminating, reason, message, detail },
            { requeueAfter: RETRY.recheckSoon },
          )
        : report(volume, now, 'Failed', destructionError(message, detail), { retry: true });
    }
    case 'again':
      return startAttempt(volume, now, 'UnprepareVolume', attempt + 1, 'Terminating', {
        ...terminating,
        message: `attempt ${attempt}: ${step.message}`,
        detail: reasonOfAttempt(attempt, step.reason),
      });
    case 'failed':
      return startAttempt(
        volume,
        now,
        'UnprepareVolume',
        attempt + 1,
        'Failed',
        destructionError(
          `attempt ${attempt}: ${step.message}`,
          reasonOfAttempt(attempt, step.reason),
        ),
      );
    default:
      return {};
  }
}

function destructionError(message: string, detail: Reason | undefined): Ready {
  return { status: 'False', reason: READY_REASON.destructionError, message, detail };
}
