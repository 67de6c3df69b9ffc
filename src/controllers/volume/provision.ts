import { READY_REASON, type ReadyReason } from '../../api/names.ts';
import { type Explanation, explain, shownAs } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { type ClassOptions, checkClass } from '../../model/class-options.ts';
import type { VolumeSource } from '../../model/desired-volume.ts';
import { desiredOf } from '../../model/desired-volume.ts';
import { parseJobName } from '../../model/job-name.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { RETRY } from '../../model/retry.ts';
import { validateVolume } from '../../model/validate-volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { withHint } from '../../nodes/job-text.ts';
import { fileSystemOf } from '../../storage/file-system.ts';
import { isPermanentFailure, recreateHint, reportRunning } from './fill-progress.ts';
import { jobStep } from './job-phase.ts';
import {
  advance,
  endJob,
  reasonOfAttempt,
  report,
  startAttempt,
  unreachable,
} from './job-retry.ts';
import { mayAdopt, withoutSource } from './may-begin.ts';
import { observedStatus } from './observed-status.ts';
import { buildPv } from './persistent-volume.ts';
import { isRetryRequested, type Ready } from './status.ts';
import type { Decision, Input } from './types.ts';

/**
 * Maximum number of attempts to provision a volume before it needs an operator. Copies are retried
 * without limit.
 */
const MAX_ATTEMPTS = 8;

/**
 * Provisions a Volume without a PersistentVolume: the chart "Volume Deployment" of the
 * specification.
 */
export function provision(input: Input, now: number): Decision {
  const { volume, pv } = input;
  const fail = (reason: ReadyReason, why: Omit<Ready, 'status' | 'reason'>): Decision =>
    report(volume, now, 'Failed', { status: 'False', reason, ...why }, {});

  const problems = validateVolume(volume);
  if (problems.length > 0) {
    const found = explain('SpecInvalid', { problems: problems.join('; ') });
    return fail(READY_REASON.internalError, found);
  }
  const options = classOf(input);
  if ('problem' in options) {
    // A class created just before the Volume may reach the cache later, and Failed is permanent.
    if (input.liveClass === undefined) return { action: { do: 'read-class' } };
    return fail(READY_REASON.creationError, options.problem);
  }

  const name = parseJobName(volume.status?.job);
  const pending = { status: 'Unknown', reason: READY_REASON.pending, message: '' } as const;
  // Ignores a job of another kind. A changed spec retries a failed job.
  if (name?.kind !== 'PrepareVolume' || volume.status?.phase === 'Failed') {
    const attempt = name?.kind === 'PrepareVolume' ? (volume.status?.attempt ?? 0) + 1 : 1;
    // Recorded, so that the attempt starts at once, whatever its number.
    const why = isRetryRequested(volume) ? explain('RetryRequested') : {};
    return startAttempt(volume, now, 'PrepareVolume', attempt, 'Pending', { ...pending, ...why });
  }
  if (name.attempt === undefined) {
    if (volume.status?.prepared === undefined) {
      return startAttempt(volume, now, 'PrepareVolume', 1, 'Pending', pending);
    }
    if (input.pvRefused !== undefined) return withoutPv(volume, input.pvRefused, now);
    // The cached PersistentVolume may be long gone: after restoring a backup, caches catch up at
    // different times.
    if (pv !== undefined && input.livePv === undefined) return { action: { do: 'read-pv' } };
    const found = input.livePv === undefined ? pv : input.livePv.found;
    if (found === undefined) return createPv(input, options, now);
    if (isPvOf(found, volume)) return { retry: true };
    return fail(
      READY_REASON.creationError,
      explain('PersistentVolumeExists', { name: found.metadata.name }),
    );
  }

  const { attempt } = name;
  const source = sourceOf(input);
  if (source === undefined) return { action: { do: 'read-source' } };
  if ('problem' in source) {
    const waits = withoutSource(input, source.problem, now);
    if (waits !== undefined) return waits;
  }
  const asks = mayAdopt(input, now);
  if (asks !== undefined) return asks;
  const starts = 'fill' in source || ('from' in source && source.from !== undefined);
  const desired = desiredOf(volume, options, input.node, starts ? source : undefined);
  // A driver that ignores the source would provision an empty volume.
  if (
    starts &&
    desired.fill === undefined &&
    !('source' in desired && desired.source !== undefined)
  ) {
    return fail(READY_REASON.creationError, explain('SourceOfOtherType'));
  }
  const step = jobStep(input, 'provision', desired);
  const next = advance(input, step, attempt, now);
  if (next !== undefined) return next;
  switch (step.is) {
    case 'running':
      return reportRunning(volume, now, step);
    case 'done': {
      const found = observedStatus(input, step.plan.observed, desired);
      return endJob(input, 'PrepareVolume', now, pending, found, 'Pending');
    }
    case 'failed':
    case 'again':
      // Copies also fail for transient causes, such as writes blocked for too long.
      if (step.is === 'failed' && isPermanentFailure(volume, step.exit)) {
        const hint = recreateHint(volume);
        return fail(READY_REASON.creationError, {
          message: withHint(step.message, hint),
          publicMessage: withHint(step.publicMessage, hint),
          detail: step.reason,
        });
      }
      return attempt >= MAX_ATTEMPTS && !isCopy(volume)
        ? fail(READY_REASON.creationError, {
            message: `failed after ${attempt} attempts: ${step.message}`,
            publicMessage:
              step.publicMessage && `failed after ${attempt} attempts: ${step.publicMessage}`,
            detail: step.reason,
          })
        : startAttempt(volume, now, 'PrepareVolume', attempt + 1, 'Pending', {
            ...pending,
            // Show users that wait for the volume that its source is the cause.
            ...(volume.spec.source == null ? {} : { reason: READY_REASON.waitingForSource }),
            message: `attempt ${attempt} ended early: ${step.message}`,
            detail: reasonOfAttempt(attempt, step.reason),
            publicMessage:
              step.publicMessage && `attempt ${attempt} ended early: ${step.publicMessage}`,
          });
    case 'refused': {
      // The cause may be a source in use, for example: show users that wait for the volume.
      const waits =
        volume.spec.source == null ? READY_REASON.pending : READY_REASON.waitingForSource;
      const { message, reason: detail } = step;
      const reason = shownAs(detail);
      return step.plan.retryable
        ? report(
            volume,
            now,
            'Pending',
            { ...pending, reason: reason ?? waits, message, detail },
            { retry: true },
          )
        : fail(reason ?? READY_REASON.creationError, { message, detail });
    }
    default:
      return {};
  }
}

/**
 * Reports whether the Volume is a copy. Copies fail for transient causes that send no event: a
 * mounted source, or lack of room.
 */
const isCopy = ({ spec: { source } }: Volume): boolean =>
  source != null && source.populator == null;

/**
 * Creates the PersistentVolume. The kubelet mounts only the declared type of file system, and
 * formats a device without one. So the type is read from the node: a copy has that of its source,
 * an adopted volume keeps its own, and the class may have changed since the volume was made.
 */
function createPv(input: Input, options: ClassOptions, now: number): Decision {
  const { volume, observation } = input;
  const wait = (reason: ReadyReason, why: Explanation, otherwise: Decision): Decision =>
    report(volume, now, 'Pending', { status: 'Unknown', reason, ...why }, otherwise);

  const hostnames = input.hostnamesOf(volume.spec.attachableNodes ?? [nodeOf(volume)]);
  // Rechecked by time: the change may be that of another Node.
  if ('problem' in hostnames)
    return wait(READY_REASON.pending, hostnames.problem, { requeueAfter: RETRY.recheck });
  const create = (fs: ClassOptions['fs']): Decision => ({
    action: { do: 'create-pv', pv: buildPv(volume, { ...options, fs }, hostnames.labels) },
  });
  if (options.fs === undefined) return create(undefined);
  if (observation === undefined) return { action: { do: 'observe' } };
  if ('unknown' in observation) return unreachable(volume, now, observation);
  const type = fileSystemOf(observation.known, volume.spec.source != null);
  if (type !== undefined) return create({ ...options.fs, type });
  const why = explain('FileSystemMissing', { path: volume.status?.devicePath ?? 'the device' });
  return wait(READY_REASON.nodeUnclear, why, { retry: true });
}

/**
 * Returns the source of the volume, if any; undefined until it was read. A provisioned volume no
 * longer needs its source, which may be gone.
 */
function sourceOf({ volume, source }: Input): VolumeSource | { from: undefined } | undefined {
  const { spec, status } = volume;
  return spec.source == null || status?.prepared != null ? { from: undefined } : source;
}

/**
 * Reports a refused PersistentVolume. Invalid is permanent; forbidden may become allowed, and is
 * retried.
 */
function withoutPv(
  volume: Volume,
  { why, retryable }: NonNullable<Input['pvRefused']>,
  now: number,
): Decision {
  if (!retryable) {
    const refused = explain('PersistentVolumeInvalid', { why });
    return report(
      volume,
      now,
      'Failed',
      { status: 'False', reason: READY_REASON.creationError, ...refused },
      {},
    );
  }
  const forbidden = explain('PersistentVolumeForbidden', { why });
  return report(
    volume,
    now,
    'Pending',
    { status: 'Unknown', reason: READY_REASON.pending, ...forbidden },
    { retry: true },
  );
}

/** Returns the options of a valid Volume's class, or why the Volume cannot be provisioned. */
function classOf({
  volume,
  storageClass,
  liveClass,
}: Input): ClassOptions | { problem: Explanation } {
  const known = liveClass === undefined ? storageClass : liveClass.found;
  if (known === undefined) {
    const { storageClassName } = volume.spec;
    const missing = { class: storageClassName, retry: howToRetry(volume) };
    return { problem: explain('StorageClassMissing', missing) };
  }
  const options = checkClass(known, volume.spec.mode);
  if (!('problem' in options)) return options;
  const { problem } = options;
  return { problem: explain('StorageClassInvalid', { problem, retry: howToRetry(volume) }) };
}

/**
 * Returns how to retry. A class that appears requeues no Volume: as with MetalK8s, only unavailable
 * Volumes recover by themselves.
 */
const howToRetry = ({ metadata: { name } }: Volume): string =>
  `Then retry the Volume: stowage retry volume ${name}`;
