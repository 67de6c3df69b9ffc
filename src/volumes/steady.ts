import { READY_REASON } from '../api/names.ts';
import { freeLoopNumber } from '../storage/loops.ts';
import { plan } from '../storage/plan.ts';
import { advance, forget, report, startAttempt, unreachable } from './attempt.ts';
import { desiredOf } from './desired.ts';
import { doneName, parseJobName } from './job-name.ts';
import { jobStep, withHint } from './job-step.ts';
import { measured } from './measured.ts';
import { type Ready, readyOf, setStatus } from './status.ts';
import type { Decision, Input } from './types.ts';

/** How often the node is asked whether the device is still there, in ms. */
const LOOK_EVERY = 30_000;

const available = ({ pv }: Input): Ready => ({
  status: 'True',
  reason: READY_REASON.available,
  message:
    pv?.metadata.deletionTimestamp === undefined
      ? ''
      : 'the PersistentVolume is marked for deletion, and goes when this Volume is deleted',
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
  if (name?.kind === 'AttachVolume' && name.attempt !== undefined) {
    return attach(input, name.attempt, now);
  }
  if (pv?.status?.phase === 'Failed') {
    const message = `the PersistentVolume is Failed: ${pv.status.message ?? 'without a message'}`;
    return report(volume, now, 'Failed', unavailable(message), { requeueAfter: LOOK_EVERY });
  }
  if (observation === undefined) {
    const nextLook = (input.lookedAt ?? Number.NEGATIVE_INFINITY) + LOOK_EVERY;
    // What waited to be attached while it was paused waits no longer.
    const rests = volume.status?.phase === 'Available' && readyOf(volume)?.reason !== READY_REASON.attaching;
    return now < nextLook && rests ? { requeueAfter: nextLook - now } : { action: { do: 'observe' } };
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
    if (input.paused !== undefined) {
      const message = `still to be done, once it is not paused any more: ${planned.steps[0]?.name}`;
      return report(volume, now, undefined, { ...attaching, message }, { requeueAfter: LOOK_EVERY });
    }
    return startAttempt(volume, now, 'AttachVolume', 1, volume.status?.phase, attaching);
  }
  const action = setStatus(
    volume,
    now,
    'Available',
    available(input),
    measured(volume, observation.known, desired),
  );
  return action === undefined ? { requeueAfter: LOOK_EVERY } : { action };
}

/** A job that attaches the device again, after a reboot or because someone detached it. */
function attach(input: Input, attempt: number, now: number): Decision {
  const { volume } = input;
  const desired = desiredOf(volume, undefined);
  const step = jobStep(input, 'present', desired);
  const next = advance(input, step, attempt, now);
  if (next !== undefined) return next;
  switch (step.is) {
    case 'running':
      return report(volume, now, undefined, { ...attaching, message: step.message }, { follow: true });
    case 'done': {
      const forgetting = forget(input, now);
      if (forgetting !== undefined) return forgetting;
      const action = setStatus(volume, now, 'Available', available(input), {
        ...measured(volume, step.observed, desired),
        job: doneName('AttachVolume'),
      });
      return action === undefined ? {} : { action };
    }
    case 'refused':
      return report(volume, now, 'Failed', unavailable(step.message), { retry: true });
    case 'again':
    case 'failed':
      return startAttempt(
        volume,
        now,
        'AttachVolume',
        attempt + 1,
        step.is === 'failed' ? 'Failed' : undefined,
        step.is === 'failed'
          ? unavailable(`attempt ${attempt}: ${step.message}`)
          : { ...attaching, message: `attempt ${attempt}: ${step.message}` },
      );
    default:
      return {};
  }
}
