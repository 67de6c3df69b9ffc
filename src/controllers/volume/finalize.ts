import type { PersistentVolume } from '../../api/core.ts';
import { PROTECTION_FINALIZER, READY_REASON } from '../../api/names.ts';
import { explain, type Reason, shownAs } from '../../api/reasons.ts';
import type { Volume, VolumeStatus } from '../../api/volume.ts';
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

/**
 * Finalizes a Volume that is being deleted: the chart "Volume Finalization" of the specification.
 */
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
  return isNodeForgotten(volume)
    ? forgetNode(input, pv, now)
    : reclaimStorage(input, pv, now, hasNoTrace(volume, pv));
}

/**
 * Waits until the attachment controller has detached the device on all nodes. A change of its
 * location triggers a reconcile.
 */
function stillAttached({ volume, attachmentEnabled }: Input, now: number): Decision | undefined {
  const places = attachmentsOf(volume).map(({ node, message, pods = [] }) => {
    const why =
      message ?? (pods.length > 0 ? `needed there by pods: ${pods.join(', ')}` : undefined);
    return why === undefined ? node : `${node}: ${why}`;
  });
  if (places.length === 0) return undefined;
  const still = explain('VolumeStillAttached', { nodes: places.join('; ') });
  const ready = attachmentEnabled
    ? { ...terminating, ...still }
    : attachmentDisabled(still.message);
  return report(volume, now, 'Terminating', ready, { requeueAfter: RETRY.recheckSoon });
}

/**
 * Releases a Volume whose node is forgotten, without a node request. Records possible remains as a
 * Leftover first.
 */
function forgetNode(input: Input, pv: PersistentVolume | undefined, now: number): Decision {
  const { volume, kept } = input;
  if (kept === undefined) return { action: { do: 'keep-leftover', leftover: leftoverOf(volume) } };
  if ('as' in kept) return release(pv);
  const why = explain('LeftoverRefused', { problem: kept.problem });
  return report(volume, now, undefined, { ...terminating, ...why }, { retry: true });
}

/**
 * Implements the chart "ReclaimStorage": removes the storage from the node, then releases the
 * objects.
 * @param neverMade no object shows that storage was ever provisioned
 */
export function reclaimStorage(
  input: Input,
  pv: PersistentVolume | undefined,
  now: number,
  neverMade = false,
): Decision {
  const name = parseJobName(input.volume.status?.job);
  if (name?.kind !== 'UnprepareVolume') {
    return startAttempt(input.volume, now, 'UnprepareVolume', 1, 'Terminating', terminating);
  }
  return name.attempt === undefined ? release(pv) : reclaim(input, name.attempt, now, neverMade);
}

/**
 * Reports whether the spec names no storage location, and no trace of provisioning exists. A status
 * without a job proves nothing: it may be lost, or older than a restored backup. Only the node
 * shows the truth.
 */
function wasNeverMade(volume: Volume, pv: PersistentVolume | undefined): boolean {
  const { attempt, prepared } = volume.status ?? {};
  return !hasPlace(volume) && [attempt, prepared, pv].every((trace) => trace === undefined);
}

/** Fields of a status that an observation of provisioned storage sets. */
const TRACES = [
  'prepared',
  'deviceName',
  'devicePath',
  'capacity',
] as const satisfies (keyof VolumeStatus)[];

/** Reports whether neither status nor PersistentVolume shows storage. The node may have some. */
const hasNoTrace = (volume: Volume, pv: PersistentVolume | undefined): boolean =>
  pv === undefined &&
  attachmentsOf(volume).length === 0 &&
  TRACES.every((field) => volume.status?.[field] === undefined);

/** Releases the PersistentVolume, then the Volume, which deletes both. */
function release(pv: PersistentVolume | undefined): Decision {
  const held = pv?.metadata.finalizers?.includes(PROTECTION_FINALIZER) ?? false;
  return { action: { do: held ? 'release-pv' : 'release-volume' } };
}

/**
 * Waits for a job that provisions or attaches, and cancels populating: its result can only be
 * removed once it has ended.
 */
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

/**
 * Decides about a job that reclaims the storage. Retries failed attempts, so that nothing is left
 * behind.
 */
function reclaim(input: Input, attempt: number, now: number, neverMade: boolean): Decision {
  const { volume } = input;
  const { kubeletRoot } = input;
  const desired = {
    ...desiredOf(volume, undefined, input.node),
    ...(kubeletRoot && { kubeletRoot }),
    ...(neverMade && { neverMade }),
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
        { watch: true },
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
