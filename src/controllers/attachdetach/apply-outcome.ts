import { type Explanation, explain } from '../../api/reasons.ts';
import type { Clock } from '../../workqueue/clock.ts';
import { change, withoutNode } from './actual-state.ts';
import type { Outcome } from './attacher-detacher.ts';
import type { AttachmentOperation, AttachmentOperationKind, NodeAttachment } from './types.ts';
import {
  failureOf,
  forgetFailures,
  gistOf,
  noteFailure,
  UNFIT,
  type VolumeState,
} from './volume-state.ts';

/**
 * Minimum time (ms) between different "node unreachable" messages: ssh's text varies per attempt,
 * and each change costs a write and an event. Attempts are up to two minutes apart.
 */
const SAME_SILENCE = 10 * 60_000;

/**
 * Updates the known state after an operation has ended. `random` is in [0, 1).
 * @param was entry of the node before the operation; its `since` is kept if the device is still
 *   Attached
 */
export function applyOutcome(
  known: VolumeState,
  { kind, node }: AttachmentOperation,
  outcome: Outcome,
  clock: Pick<Clock, 'now' | 'timeOfDay'>,
  random: number,
  was?: NodeAttachment,
): void {
  const [now, timeOfDay] = [clock.now(), clock.timeOfDay()];
  const fail = (why: Explanation) => noteFailure(known, kind, node, why, now, random);
  switch (outcome.is) {
    case 'attached': {
      const { is: _, ...found } = outcome;
      const { safeToMount } = found;
      const stands =
        kind === 'verify' && found.message === undefined ? refusalOfDetach(known, was) : undefined;
      const to = { ...found, ...stands, state: 'Attached', safeToDetach: false } as const;
      known.entries = stillSince(change(known.entries, node, to, timeOfDay), was);
      known.unverifiedNodes.delete(node);
      // A verification clears failures of attach, too, once the device is safe to mount.
      forgetFailures(known, node, safeToMount ? ['verify', 'attach'] : ['verify']);
      if (kind === 'attach' && safeToMount) forgetFailures(known, node);
      // The detach did not detach the device, or the attached device has a fault.
      if (kind === 'detach' || (kind === 'attach' && !safeToMount)) fail(faultOf(outcome));
      return;
    }
    case 'detached': {
      known.entries = withoutNode(known.entries, node);
      known.unverifiedNodes.delete(node);
      // A verification that finds no device keeps the backoff of an attach that fails each time.
      const over: AttachmentOperationKind[] =
        kind === 'detach' ? ['verify', 'detach', 'attach'] : ['verify', 'detach'];
      forgetFailures(known, node, over);
      return;
    }
    case 'in-use': {
      // The operation changed nothing.
      const safeToMount = was?.state === 'Attached' && was.safeToMount;
      const to = {
        state: 'Attached',
        safeToMount,
        safeToDetach: false,
        message: outcome.message,
        detail: outcome.detail,
      } as const;
      known.entries = stillSince(change(known.entries, node, to, timeOfDay), was);
      known.unverifiedNodes.delete(node);
      fail(outcome);
      return;
    }
    case 'failed':
      known.entries = withoutNode(known.entries, node);
      fail(outcome);
      // The holder has no entry, since an entry would have blocked this attach: verify its node.
      for (const holder of outcome.heldBy ?? []) {
        const isOne = known.volume.spec.attachableNodes?.includes(holder) ?? false;
        if (isOne && !known.entries.some((entry) => entry.node === holder))
          known.unverifiedNodes.add(holder);
      }
      return;
    case 'unknown': {
      const isUnfit = outcome.noDevice && !known.entries.some((entry) => entry.node === node);
      const { message, detail, silenceReportedAt } = messageToReport(known, node, outcome, now);
      const why = { message, detail };
      noteFailure(
        known,
        'verify',
        node,
        why,
        now,
        random,
        isUnfit ? UNFIT : undefined,
        silenceReportedAt,
      );
      if (kind !== 'verify') fail(why);
      // This attach added the entry and submitted no job: remove the entry. An earlier entry stays,
      // since its writer may have submitted a job.
      if (kind === 'attach' && was === undefined && outcome.nothingDone) {
        known.entries = withoutNode(known.entries, node);
      }
      // A node without an entry, or one that was force-detached meanwhile, blocks no other node.
      // Verify it when it returns.
      if (!known.entries.some((entry) => entry.node === node)) {
        known.unverifiedNodes.add(node);
        return;
      }
      known.entries = change(
        known.entries,
        node,
        { state: 'Uncertain', safeToMount: false, safeToDetach: false, ...why },
        timeOfDay,
      );
    }
  }
}

/**
 * Returns the message to report. For a node that does not answer, the last message stands for
 * SAME_SILENCE.
 */
function messageToReport(
  known: VolumeState,
  node: string,
  { message, detail, silent }: Unknown,
  now: number,
) {
  if (!silent) return { message, detail, silenceReportedAt: undefined };
  const before = failureOf(known, 'verify', node);
  const stands =
    before?.silenceReportedAt !== undefined && now - before.silenceReportedAt < SAME_SILENCE;
  return stands ? before : { message, detail, silenceReportedAt: now };
}

type Unknown = Extract<Outcome, { is: 'unknown' }>;

/** Returns the fault of an attached device. Pure. */
export const faultOf = ({ message, detail }: Extract<Outcome, { is: 'attached' }>): Explanation =>
  message === undefined ? explain('StillAttached') : { message, detail };

/**
 * Returns why the last detach from a node was refused, if the entry still shows it. A verification
 * does not check whether a device is in use, so it keeps that message. The next detach ends it, or
 * a pod that needs the device there. Pure.
 */
function refusalOfDetach(
  known: VolumeState,
  was: NodeAttachment | undefined,
): Explanation | undefined {
  if (was === undefined || was.state !== 'Attached' || was.message === undefined) return undefined;
  const failure = failureOf(known, 'detach', was.node);
  if (failure === undefined || gistOf(failure) !== gistOf(was)) return undefined;
  return { message: was.message, detail: was.detail };
}

/**
 * Restores the `since` that an Attached entry had before the operation, so that retries do not
 * change the status.
 */
const stillSince = (
  entries: readonly NodeAttachment[],
  was: NodeAttachment | undefined,
): readonly NodeAttachment[] =>
  was?.state !== 'Attached'
    ? entries
    : entries.map((each) =>
        each.node === was.node && each.state === 'Attached' ? { ...each, since: was.since } : each,
      );
