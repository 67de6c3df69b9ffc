import { type Explanation, explain } from '../../api/reasons.ts';
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
 * For how long what is said of a node that does not answer stands for whatever else is said of that, in ms. What ssh prints may
 * differ each time, which would be a write and an event each time; tries come up to two minutes apart.
 */
const SAME_SILENCE = 10 * 60_000;

/**
 * What is known once an operation has ended. `random` is in [0, 1).
 * @param was the node's entry before the operation began: what is Attached as it was has been so since then
 */
export function applyOutcome(
  known: VolumeState,
  { kind, node }: AttachmentOperation,
  outcome: Outcome,
  now: number,
  random: number,
  was?: NodeAttachment,
): void {
  const fail = (why: Explanation) => noteFailure(known, kind, node, why, now, random);
  switch (outcome.is) {
    case 'attached': {
      const { is: _, ...found } = outcome;
      const { safeToMount } = found;
      const stands =
        kind === 'verify' && found.message === undefined ? refusalOfDetach(known, was) : undefined;
      const to = { ...found, ...stands, state: 'Attached', safeToDetach: false } as const;
      known.entries = stillSince(change(known.entries, node, to, now), was);
      known.unverifiedNodes.delete(node);
      // Also by a look: what an attach was tried for is so.
      forgetFailures(known, node, safeToMount ? ['verify', 'attach'] : ['verify']);
      if (kind === 'attach' && safeToMount) forgetFailures(known, node);
      // It was to be detached, or it is not as it should be.
      if (kind === 'detach' || (kind === 'attach' && !safeToMount)) fail(faultOf(outcome));
      return;
    }
    case 'detached': {
      known.entries = withoutNode(known.entries, node);
      known.unverifiedNodes.delete(node);
      // A look that finds nothing is no reason to try an attach again sooner that fails each time.
      const over: AttachmentOperationKind[] =
        kind === 'detach' ? ['verify', 'detach', 'attach'] : ['verify', 'detach'];
      forgetFailures(known, node, over);
      return;
    }
    case 'in-use': {
      // Nothing was done to it.
      const safeToMount = was?.state === 'Attached' && was.safeToMount;
      const to = {
        state: 'Attached',
        safeToMount,
        safeToDetach: false,
        message: outcome.message,
        detail: outcome.detail,
      } as const;
      known.entries = stillSince(change(known.entries, node, to, now), was);
      known.unverifiedNodes.delete(node);
      fail(outcome);
      return;
    }
    case 'failed':
      known.entries = withoutNode(known.entries, node);
      fail(outcome);
      // Nothing is known to be there, or that node would have been let go of first: it is looked at again.
      for (const holder of outcome.heldBy ?? []) {
        const isOne = known.volume.spec.attachableNodes?.includes(holder) ?? false;
        if (isOne && !known.entries.some((entry) => entry.node === holder))
          known.unverifiedNodes.add(holder);
      }
      return;
    case 'unknown': {
      const isUnfit = outcome.noDevice && !known.entries.some((entry) => entry.node === node);
      const { message, detail, silenceToldAt } = told(known, node, outcome, now);
      const why = { message, detail };
      noteFailure(
        known,
        'verify',
        node,
        why,
        now,
        random,
        isUnfit ? UNFIT : undefined,
        silenceToldAt,
      );
      if (kind !== 'verify') fail(why);
      // The only entry is what this attach itself began with, and it did nothing: what is known is no more than before. An entry
      // that was there already stays, for whoever wrote that may have submitted a job.
      if (kind === 'attach' && was === undefined && outcome.nothingDone) {
        known.entries = withoutNode(known.entries, node);
      }
      // A node that was only to be looked at, and is not known to have it, holds nobody up. Nor does one that was let go of
      // meanwhile, by force or by order: it is looked at when it is back.
      if (!known.entries.some((entry) => entry.node === node)) {
        known.unverifiedNodes.add(node);
        return;
      }
      known.entries = change(
        known.entries,
        node,
        { state: 'Uncertain', safeToMount: false, safeToDetach: false, ...why },
        now,
      );
    }
  }
}

/** What is told of it; of a node that does not answer, as it was told before. */
function told(known: VolumeState, node: string, { message, detail, silent }: Unknown, now: number) {
  if (!silent) return { message, detail, silenceToldAt: undefined };
  const before = failureOf(known, 'verify', node);
  const stands = before?.silenceToldAt !== undefined && now - before.silenceToldAt < SAME_SILENCE;
  return stands ? before : { message, detail, silenceToldAt: now };
}

type Unknown = Extract<Outcome, { is: 'unknown' }>;

/** The fault of a device that is there. Pure. */
export const faultOf = ({ message, detail }: Extract<Outcome, { is: 'attached' }>): Explanation =>
  message === undefined ? explain('StillAttached') : { message, detail };

/**
 * Why a node's last detach was refused, where its entry says that: a look does not ask whether a device is in use, and is no
 * answer to that. The next detach is, or a pod that needs it there. Pure.
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

/** With the time since when it is Attached that it had before it was tried to change that: else each try writes another. */
const stillSince = (
  entries: readonly NodeAttachment[],
  was: NodeAttachment | undefined,
): readonly NodeAttachment[] =>
  was?.state !== 'Attached'
    ? entries
    : entries.map((each) =>
        each.node === was.node && each.state === 'Attached' ? { ...each, since: was.since } : each,
      );
