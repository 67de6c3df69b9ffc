import { READY_REASON } from '../../api/names.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { explain } from '../../api/reasons.ts';
import { desiredOf } from '../../model/desired-volume.ts';
import { parseJobName } from '../../model/job-name.ts';
import { withHint } from '../../nodes/job-text.ts';
import { deviceOf, preferDevice } from '../../storage/device.ts';
import { recordDirectory } from '../../storage/directory/directory-record.ts';
import { freeLoopNumber } from '../../storage/loops.ts';
import { plan } from '../../storage/plan.ts';
import type { Desired, Observed } from '../../storage/registry.ts';
import { attachmentsOf, isOnDemand } from './attached.ts';
import { growing, growsTo, isToGrow, stopGrowing } from './expansion.ts';
import { dueAt, endJob, report, startAttempt, unreachable, untilJobEnds } from './job-retry.ts';
import { observedStatus } from './observed-status.ts';
import { withPathOf } from './persistent-volume.ts';
import { available, unavailable, waiting } from './ready.ts';
import { type Ready, readyOf, setStatus } from './status.ts';
import type { Decision, Input } from './types.ts';

/** Interval (ms) at which the device is observed. */
const OBSERVE_EVERY = 30_000;

/**
 * Maintains a Volume that has its PersistentVolume: the status follows the observation of the node.
 * Provisions and attaches nothing: an `Always` Volume reports that it waits to be attached.
 */
export function maintain(input: Input, now: number): Decision {
  const { volume, pv, observation } = input;
  const name = parseJobName(volume.status?.job);
  let growsAt: number | undefined;
  if (name?.kind === 'AttachVolume' && name.attempt !== undefined)
    return endOfAttaching(input, now);
  if (name?.kind === 'GrowVolume' && name.attempt !== undefined) {
    const due = dueAt(volume, name.attempt, now);
    // Until the next attempt to expand, which may never succeed, the device is maintained as usual.
    if (now >= due) return growing(input, name.attempt, now);
    growsAt = due;
  }
  const requeueAt = (at: number) => ({ requeueAfter: Math.min(at, growsAt ?? at) - now });
  if (pv?.status?.phase === 'Failed') {
    const why = pv.status.message ?? 'no message';
    const { message, detail } = explain('PersistentVolumeFailed', { why });
    return report(volume, now, 'Failed', unavailable(message, detail), {
      requeueAfter: OBSERVE_EVERY,
    });
  }
  // The attachment controller reports the final state of the device, so an observation now would be
  // outdated.
  if (input.isMoving && isOnDemand(volume)) return requeueAt(now + OBSERVE_EVERY);
  if (observation === undefined) {
    const nextObservation = (input.observedAt ?? Number.NEGATIVE_INFINITY) + OBSERVE_EVERY;
    return now < nextObservation && rests(input, growsAt !== undefined)
      ? requeueAt(nextObservation)
      : { action: { do: 'observe' } };
  }
  if ('unknown' in observation) {
    return unreachable(volume, now, observation);
  }
  const desired = desiredOf(withPathOf(pv, volume), undefined, input.node);
  const planned = plan(
    'attach',
    desired,
    observation.known,
    freeLoopNumber(observation.known.loops, input.allotted),
  );
  const isThere = deviceOf(desired, observation.known).device !== undefined;
  const detached = isOnDemand(volume) && !isThere;
  // A transient refusal only prevents the attach, and the attachment controller reports it.
  if ('refusal' in planned && !(detached && planned.retryable)) {
    const message = withHint(planned.refusal, planned.hint);
    return report(volume, now, 'Failed', unavailable(message, planned.reason), {
      requeueAfter: OBSERVE_EVERY,
    });
  }
  if ('astray' in planned && planned.astray !== undefined) {
    const message = `${planned.astray}; a pod that starts now may get that device. Attaching the volume again corrects it`;
    return report(volume, now, 'Failed', unavailable(message, planned.reason), {
      requeueAfter: OBSERVE_EVERY,
    });
  }
  const {
    steps,
    grows,
    notes = [],
    reason,
  } = 'refusal' in planned
    ? { ...planned, steps: [], notes: [planned.refusal], grows: false }
    : planned;
  if (detached && growsAt !== undefined) return stopGrowing(input, now);
  if (grows) {
    if (growsAt !== undefined) return requeueAt(now + OBSERVE_EVERY);
    const ready = available(input, [growsTo(input)]);
    if (input.paused !== undefined) {
      const message = `waiting for the pause to end: ${steps[0]?.name}`;
      return report(volume, now, undefined, { ...ready, message }, { requeueAfter: OBSERVE_EVERY });
    }
    return startAttempt(volume, now, 'GrowVolume', 1, volume.status?.phase, ready);
  }
  if (steps.length > 0 && !isOnDemand(volume)) {
    // The old device name may belong to another device by now. If the status was lost, the
    // attachment controller must learn that the Volume is provisioned.
    const isLost = volume.status?.prepared === undefined;
    const gone = isThere ? {} : { deviceName: undefined };
    const fields = isLost ? observedStatus(input, observation.known, desired) : gone;
    return report(
      volume,
      now,
      undefined,
      waiting(input, now),
      { requeueAfter: OBSERVE_EVERY },
      fields,
    );
  }
  const fields = observedStatus(input, observation.known, desired);
  const toGrow =
    detached && isToGrow(desired, fields.capacity) ? [`${growsTo(input)} once it is attached`] : [];
  const action = setStatus(
    volume,
    now,
    'Available',
    { ...available(input, [...notes, ...toGrow]), ...(reason && { detail: reason }) },
    fields,
  );
  if (action !== undefined) return { action };
  return (
    grownPv(input) ??
    recordOf(input, observation.known) ??
    preferPath(input, desired, observation.known) ?? { requeueAfter: OBSERVE_EVERY }
  );
}

/**
 * Reports whether the status needs no new observation yet.
 * @param isGrowing the next attempt to expand has its own time
 */
function rests({ volume, node }: Input, isGrowing: boolean): boolean {
  const { phase, observedGeneration, deviceName, capacity } = volume.status ?? {};
  const reason = readyOf(volume)?.reason;
  const there = attachmentsOf(volume).find((each) => each.node === node);
  // The attachment controller writes attachment and deviceName together. While the device is moving
  // or uncertain, deviceName may be set or not.
  const isConsistent =
    there === undefined
      ? deviceName === undefined
      : there.state !== 'Attached' || deviceName !== undefined;
  return (
    phase === 'Available' &&
    // The device may be attached by now, also after a pause.
    reason !== READY_REASON.attaching &&
    reason !== READY_REASON.attachmentDisabled &&
    (isConsistent || !isOnDemand(volume)) &&
    // The device can expand now that it is attached.
    !(
      !isGrowing &&
      there?.state === 'Attached' &&
      isToGrow(desiredOf(volume, undefined, node), capacity)
    ) &&
    // The spec may request another size.
    observedGeneration === volume.metadata.generation
  );
}

/**
 * Records the file system of a directory whose volumes are older than such records. Only an intact
 * volume does so.
 */
function recordOf({ volume, directoryRecorded }: Input, observed: Observed): Decision | undefined {
  if (!('directory' in observed) || directoryRecorded) return undefined;
  const steps = recordDirectory(volume.metadata.uid ?? '', observed.directory);
  return steps.length === 0 ? undefined : { action: { do: 'record-directory', steps } };
}

/**
 * Makes udev prefer the device for its path. The path of an older volume is derived from content,
 * which pods can also write to other devices.
 */
function preferPath(
  { pathPreferred }: Input,
  desired: Desired,
  observed: Observed,
): Decision | undefined {
  if (pathPreferred) return undefined;
  const steps = preferDevice(desired, observed);
  return steps.length === 0 ? undefined : { action: { do: 'prefer-path', steps } };
}

/** Updates the capacity of the PersistentVolume after an expansion. */
function grownPv({ volume, pv }: Input): Decision | undefined {
  const capacity = volume.status?.capacity;
  if (pv === undefined || capacity === undefined) return undefined;
  return parseQuantity(capacity) > parseQuantity(pv.spec.capacity.storage)
    ? { action: { do: 'grow-pv', capacity } }
    : undefined;
}

/**
 * Waits for an attach job of an earlier version, in which Volumes attached themselves. Then
 * observes the node as usual.
 */
function endOfAttaching(input: Input, now: number): Decision {
  const ready: Ready = { status: 'Unknown', reason: READY_REASON.attaching, message: '' };
  return untilJobEnds(input, now, ready) ?? endJob(input, 'AttachVolume', now, ready);
}
