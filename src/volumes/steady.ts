import { READY_REASON } from '../api/names.ts';
import { parseQuantity } from '../api/quantity.ts';
import { validateVolume } from '../api/validate-volume.ts';
import { withHint } from '../nodes/job-text.ts';
import { freeLoopNumber } from '../storage/loops.ts';
import { plan } from '../storage/plan.ts';
import { advance, dueAt, forget, report, startAttempt, unreachable } from './attempt.ts';
import { desiredOf } from './desired.ts';
import { doneName, parseJobName } from './job-name.ts';
import { jobStep } from './job-step.ts';
import { measured } from './measured.ts';
import { type Ready, readyOf, setStatus } from './status.ts';
import type { Decision, Input } from './types.ts';

/** How often the node is asked whether the device is still there, in ms. */
const LOOK_EVERY = 30_000;

const available = ({ volume, pv }: Input, notes: readonly string[] = []): Ready => ({
  status: 'True',
  reason: READY_REASON.available,
  message: [
    ...(pv?.metadata.deletionTimestamp === undefined
      ? []
      : ['the PersistentVolume is marked for deletion, and goes when this Volume is deleted']),
    // What came into the spec since the Volume was made.
    ...validateVolume(volume).map((problem) => `not done: ${problem}`),
    ...notes,
  ].join('; '),
});
const attaching: Ready = { status: 'Unknown', reason: READY_REASON.attaching, message: '' };
const unavailable = (message: string): Ready => ({
  status: 'False',
  reason: READY_REASON.unavailableError,
  message,
});

/**
 * A Volume with its PersistentVolume: the device is kept present on its node, and the status follows what is found
 * there. Nothing is ever made anew here.
 */
export function steady(input: Input, now: number): Decision {
  const { volume, pv, observation } = input;
  const name = parseJobName(volume.status?.job);
  let growsAt: number | undefined;
  if ((name?.kind === 'AttachVolume' || name?.kind === 'GrowVolume') && name.attempt !== undefined) {
    const due = dueAt(volume, name.attempt, now);
    // Until it is tried to grow again, which may never succeed, the device is looked after as ever.
    if (name.kind === 'AttachVolume' || now >= due) return underWay(input, name.kind, name.attempt, now);
    growsAt = due;
  }
  const lookAt = (at: number) => ({ requeueAfter: Math.min(at, growsAt ?? at) - now });
  if (pv?.status?.phase === 'Failed') {
    const message = `the PersistentVolume is Failed: ${pv.status.message ?? 'without a message'}`;
    return report(volume, now, 'Failed', unavailable(message), { requeueAfter: LOOK_EVERY });
  }
  if (observation === undefined) {
    const nextLook = (input.lookedAt ?? Number.NEGATIVE_INFINITY) + LOOK_EVERY;
    // What waited to be attached while it was paused waits no longer.
    const rests =
      volume.status?.phase === 'Available' &&
      readyOf(volume)?.reason !== READY_REASON.attaching &&
      // Another size may be wanted.
      volume.status.observedGeneration === volume.metadata.generation;
    return now < nextLook && rests ? lookAt(nextLook) : { action: { do: 'observe' } };
  }
  if ('unknown' in observation) {
    return unreachable(volume, now, observation);
  }
  const desired = desiredOf(volume, undefined);
  const planned = plan(
    'present',
    desired,
    observation.known,
    freeLoopNumber(observation.known.loops, input.allotted),
  );
  if ('refusal' in planned) {
    const message = withHint(planned.refusal, planned.hint);
    return report(volume, now, 'Failed', unavailable(message), { requeueAfter: LOOK_EVERY });
  }
  if (planned.steps.length > 0) {
    if (planned.grows && growsAt !== undefined) return lookAt(now + LOOK_EVERY);
    const kind = planned.grows ? 'GrowVolume' : 'AttachVolume';
    if (input.paused !== undefined) {
      const message = `still to be done, once it is not paused any more: ${planned.steps[0]?.name}`;
      const { message: _, ...ready } = statusWhile(kind, input, '');
      return report(volume, now, undefined, { ...ready, message }, { requeueAfter: LOOK_EVERY });
    }
    return startAttempt(volume, now, kind, 1, volume.status?.phase, statusWhile(kind, input, ''));
  }
  const fields = measured(volume, observation.known, desired);
  const action = setStatus(volume, now, 'Available', available(input, planned.notes), fields);
  if (action !== undefined) return { action };
  return grownPv(input) ?? { requeueAfter: LOOK_EVERY };
}

/** The PersistentVolume tells the size, once it has grown. */
function grownPv({ volume, pv }: Input): Decision | undefined {
  const capacity = volume.status?.capacity;
  if (pv === undefined || capacity === undefined) return undefined;
  return parseQuantity(capacity) > parseQuantity(pv.spec.capacity.storage)
    ? { action: { do: 'grow-pv', capacity } }
    : undefined;
}

/** What Ready tells while a job is under way: a device that grows can be used meanwhile. */
function statusWhile(kind: 'AttachVolume' | 'GrowVolume', input: Input, message: string): Ready {
  if (kind === 'AttachVolume') return { ...attaching, message };
  return {
    ...available(input),
    message: `growing to ${sizeOf(input)}${message === '' ? '' : `: ${message}`}`,
  };
}

const sizeOf = ({ volume: { spec } }: Input) =>
  String((spec.sparseLoopDevice ?? spec.lvmLogicalVolume)?.size);

/** A job that attaches the device again, after a reboot or because someone detached it, or one that grows it. */
function underWay(input: Input, kind: 'AttachVolume' | 'GrowVolume', attempt: number, now: number): Decision {
  const { volume } = input;
  const desired = desiredOf(volume, undefined);
  const step = jobStep(input, 'present', desired);
  const next = advance(input, step, attempt, now);
  if (next !== undefined) return next;
  switch (step.is) {
    case 'running':
      return report(volume, now, undefined, statusWhile(kind, input, step.message), { follow: true });
    case 'done': {
      const forgetting = forget(input, now);
      if (forgetting !== undefined) return forgetting;
      const action = setStatus(volume, now, 'Available', available(input), {
        ...measured(volume, step.observed, desired),
        job: doneName(kind),
      });
      return action === undefined ? {} : { action };
    }
    case 'refused':
      return report(volume, now, 'Failed', unavailable(step.message), { retry: true });
    case 'again':
    case 'failed': {
      const message = `attempt ${attempt}: ${step.message}`;
      // What could not grow is as usable as it was.
      const failed = step.is === 'failed' && kind === 'AttachVolume';
      return startAttempt(
        volume,
        now,
        kind,
        attempt + 1,
        failed ? 'Failed' : undefined,
        failed ? unavailable(message) : statusWhile(kind, input, message),
      );
    }
    default:
      return {};
  }
}
