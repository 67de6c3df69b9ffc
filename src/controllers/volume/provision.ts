import { READY_REASON, type ReadyReason } from '../../api/names.ts';
import { type Explanation, explain, shownAs } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { type ClassOptions, checkClass } from '../../model/class-options.ts';
import type { VolumeSource } from '../../model/desired-volume.ts';
import { desiredOf } from '../../model/desired-volume.ts';
import { parseJobName } from '../../model/job-name.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { validateVolume } from '../../model/validate-volume.ts';
import { withHint } from '../../nodes/job-text.ts';
import { fileSystemOf } from '../../storage/file-system.ts';
import { follow, isPermanentFailure, recreateHint } from './fill-progress.ts';
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
import type { Ready } from './status.ts';
import type { Decision, Input } from './types.ts';

/** Attempts to prepare a volume before a person must look. A copy is tried for as long as it takes. */
const MAX_ATTEMPTS = 8;

/** A Volume without its PersistentVolume: the chart "Volume Deployment" of the specification. */
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
    // Written a moment before the Volume, the class may reach the cache after it, and Failed is for good.
    if (input.liveClass === undefined) return { action: { do: 'read-class' } };
    return fail(READY_REASON.creationError, options.problem);
  }

  const name = parseJobName(volume.status?.job);
  const pending = { status: 'Unknown', reason: READY_REASON.pending, message: '' } as const;
  // A job of another kind counts as none, and so does one that a changed spec asks to try again.
  if (name?.kind !== 'PrepareVolume' || volume.status?.phase === 'Failed') {
    const attempt = name?.kind === 'PrepareVolume' ? (volume.status?.attempt ?? 0) + 1 : 1;
    return startAttempt(volume, now, 'PrepareVolume', attempt, 'Pending', pending);
  }
  if (name.attempt === undefined) {
    if (volume.status?.prepared === undefined) {
      return startAttempt(volume, now, 'PrepareVolume', 1, 'Pending', pending);
    }
    if (input.pvRefused !== undefined) return withoutPv(volume, input.pvRefused, now);
    // Another one's may be long gone: after a backup was restored, each cache learns of that at its own time.
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
  // Whatever takes no heed of it would be made empty.
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
      return follow(volume, now, step);
    case 'done': {
      const found = observedStatus(input, step.plan.observed, desired);
      return endJob(input, 'PrepareVolume', now, pending, found, 'Pending');
    }
    case 'failed':
    case 'again':
      // A copy also fails by what passes, such as that writes would have waited for too long.
      if (step.is === 'failed' && isPermanentFailure(volume, step.exit)) {
        const hint = recreateHint(volume);
        return fail(READY_REASON.creationError, {
          message: withHint(step.message, hint),
          told: withHint(step.told, hint),
          detail: step.reason,
        });
      }
      return attempt >= MAX_ATTEMPTS && !isCopy(volume)
        ? fail(READY_REASON.creationError, {
            message: `given up after ${attempt} attempts: ${step.message}`,
            told: step.told && `given up after ${attempt} attempts: ${step.told}`,
            detail: step.reason,
          })
        : startAttempt(volume, now, 'PrepareVolume', attempt + 1, 'Pending', {
            ...pending,
            // Whoever waits for the volume is told what it is that fails.
            ...(volume.spec.source == null ? {} : { reason: READY_REASON.waitingForSource }),
            message: `attempt ${attempt} ended early: ${step.message}`,
            detail: reasonOfAttempt(attempt, step.reason),
            told: step.told && `attempt ${attempt} ended early: ${step.told}`,
          });
    case 'refused': {
      // Such as that what it starts from is in use: whoever waits for the volume is told of that.
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

/** What it fails by passes: who has the source mounted goes, and room comes back, though nobody tells of it. */
const isCopy = ({ spec: { source } }: Volume): boolean =>
  source != null && source.populator == null;

/**
 * What was made by mkfs has the file system that the class says. What is a copy has that of its source, and what was adopted the one
 * that it had, which may be another, and the kubelet mounts nothing but what it is told: so that is read from the node.
 */
function createPv(input: Input, options: ClassOptions, now: number): Decision {
  const { volume, observation } = input;
  const create = (fs: ClassOptions['fs']): Decision => ({
    action: { do: 'create-pv', pv: buildPv(volume, { ...options, fs }) },
  });
  const isMade = volume.spec.source == null && volume.spec.adopt == null;
  if (isMade || options.fs === undefined) return create(options.fs);
  if (observation === undefined) return { action: { do: 'observe' } };
  if ('unknown' in observation) return unreachable(volume, now, observation);
  const type = fileSystemOf(observation.known);
  if (type !== undefined) return create({ ...options.fs, type });
  const why = explain('FileSystemMissing', { path: volume.status?.devicePath ?? 'its device' });
  const ready = { status: 'Unknown', reason: READY_REASON.nodeUnclear, ...why } as const;
  return report(volume, now, 'Pending', ready, { retry: true });
}

/** What it starts from, if anything; undefined while that was not read. What was made needs it no more, and it may be gone. */
function sourceOf({ volume, source }: Input): VolumeSource | { from: undefined } | undefined {
  const { spec, status } = volume;
  return spec.source == null || status?.prepared != null ? { from: undefined } : source;
}

/** Invalid is for good; what is not allowed may be allowed, and is tried again. */
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

/** The options of a valid Volume's class, or why the Volume can't be made. */
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

/** A class that appears wakes nobody: only what became unavailable recovers by itself, as with MetalK8s. */
function howToRetry({ metadata: { name }, spec }: Volume): string {
  const again = 'delete this Volume and create it again';
  return spec.attachPolicy === undefined
    ? `Then change the spec of this Volume, which is tried again at each change: kubectl patch volume ${name} --type merge -p '{"spec":{"attachPolicy":"Always"}}' says only what is so by default. Or ${again}`
    : `Then ${again}, or change its spec.onDelete: it is tried again at each change`;
}
