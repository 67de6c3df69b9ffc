import type { Logger } from '../../api/logger.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { isConflict } from '../../kube/errors.ts';
import type { Clock } from '../../workqueue/clock.ts';
import type { Operations } from '../../workqueue/pending-operations.ts';
import { change } from './actual-state.ts';
import { applyOutcome, faultOf } from './apply-outcome.ts';
import type { Attacher, Outcome } from './attacher-detacher.ts';
import { isOnSeveral } from './desired-state.ts';
import type { StatusUpdater } from './status-updater.ts';
import type { AttachmentOperation, AttachmentOperationKind, NodeAttachment } from './types.ts';
import { gistOf, type VolumeState } from './volume-state.ts';

export interface WorkDeps {
  attacher: Attacher;
  operations: Operations<AttachmentOperationKind>;
  clock: Pick<Clock, 'now'>;
  /** In [0, 1). */
  random: () => number;
  logger: Logger;
  statusUpdater: Pick<StatusUpdater, 'precheck' | 'beforeAttach'>;
  /** Decide again about the Volume of that name, now or in so many ms. */
  enqueue(name: string, afterMs?: number): void;
}

/** An operation that takes longer is shown as under way, in ms. */
export const SHOW_AFTER = 1000;

/** What takes longer, in ms, says what it is at. */
const TELL_AFTER = 10_000;

interface Running {
  operation: AttachmentOperation;
  /** ms since the epoch */
  since: number;
  /** Since when it has a place, ms since the epoch; undefined: it waits for one. */
  placed: number | undefined;
  /** Another one than a look may have been submitted. */
  begun: boolean;
  /** The node had no entry before it. */
  isNew: boolean;
  /** Its node was let go of: what it still finds is not to be relied on, and it is not to do any more there. */
  givenUp: boolean;
}

/** The operations of Volumes, one each at a time. */
export interface Work {
  /** Of the Volume of that UID. */
  of(uid: string): Readonly<Running> | undefined;
  /**
   * @param was the node's entry before it
   * @returns whether it began: not while the one before has only just ended, nor after a stop
   */
  start(
    known: VolumeState,
    operation: AttachmentOperation,
    was: NodeAttachment | undefined,
    now: number,
  ): boolean;
  /** The node of which nothing is to be written down yet: `StatusUpdater.beforeAttach` does. */
  notBegunOn(known: VolumeState): string | undefined;
  /**
   * Gives up what is under way on a node that was let go of, if anything is: a job may hang there for as long as the machine is
   * on, and cut off from what it writes to. The node is looked at once the operation has come to its end all the same.
   */
  giveUp(known: VolumeState, node: string): boolean;
  /**
   * Says of what has waited for a place for long that it does.
   * @returns in how many ms to ask again; Infinity: not at all
   */
  tellOfWait(known: VolumeState, now: number): number;
}

/** Why an attach or detach ended without what it was for. A device that is in use is none: its kubelet has not unmounted it yet. */
function errorOf(kind: AttachmentOperationKind, outcome: Outcome): string | undefined {
  if (kind === 'verify' || outcome.is === 'detached' || outcome.is === 'in-use') return undefined;
  if (outcome.is !== 'attached') return outcome.message;
  return kind === 'attach' && outcome.safeToMount ? undefined : faultOf(outcome).message;
}

/** Carries out what was decided, and puts what came of it into what is known. */
export function createOperationExecutor(deps: WorkDeps): Work {
  const { clock, random, logger } = deps;
  const running = new Map<string, Running>();

  function start(
    known: VolumeState,
    operation: AttachmentOperation,
    was: NodeAttachment | undefined,
    now: number,
  ): boolean {
    const isNew = was === undefined;
    const run: Running = {
      operation,
      since: now,
      placed: undefined,
      begun: false,
      isNew,
      givenUp: false,
    };
    running.set(known.uid, run);
    const { kind, node } = operation;
    logger.debug({ volume: known.name, node, kind }, 'operation');
    let waited = false;
    const began = deps.operations.start(known.uid, kind, node, async (signal) => {
      run.placed = clock.now();
      // It is to be shown sooner than it was without a place, and whoever decided last did not know when it would get one.
      if (waited && kind === 'verify') deps.enqueue(known.name, SHOW_AFTER);
      // It is shown with what comes next: most end soon after.
      say(known, operation, undefined);
      const outcome = await carryOut(known, run, signal);
      if (run.givenUp) {
        logger.debug(
          { volume: known.name, node, kind, outcome },
          'an operation that was given up ended',
        );
        known.unverifiedNodes.add(node);
        deps.enqueue(known.name);
        return false;
      }
      applyOutcome(known, operation, outcome, clock.now(), random(), was);
      running.delete(known.uid);
      const done = outcome.is === 'attached' || outcome.is === 'detached';
      logger[done ? 'info' : 'debug'](
        { volume: known.name, node, kind, outcome },
        'operation ended',
      );
      const reason = errorOf(kind, outcome);
      if (reason !== undefined && !signal.aborted)
        logger.warn({ volume: known.name, node, reason }, `${kind} failed`);
      return kind === 'verify' ? done : outcome.is === `${kind}ed`;
    });
    waited = run.placed === undefined;
    if (!began) running.delete(known.uid);
    return began;
  }

  async function carryOut(known: VolumeState, run: Running, signal: AbortSignal): Promise<Outcome> {
    const { operation } = run;
    const { kind, node } = operation;
    const isKnown = () => known.entries.some((entry) => entry.node === node);
    try {
      const letGo = explain('LetGoMeanwhile', { node });
      const precheck = async (unused?: 'unused') => {
        if (run.givenUp) return letGo;
        // Where it was not let go of meanwhile.
        if (unused && isKnown()) {
          known.entries = change(known.entries, node, { safeToDetach: true }, clock.now());
        }
        if (kind === 'attach') {
          run.begun = true;
          const unwritten = await deps.statusUpdater.beforeAttach(known);
          if (unwritten !== undefined) return unwritten;
        }
        // After the record: whoever deletes the Volume either is seen by this, or sees that it is attached.
        const not = await deps.statusUpdater.precheck(known, operation);
        if (not !== undefined) return not;
        return run.givenUp || (kind === 'attach' && !isKnown()) ? letGo : undefined;
      };
      const onProgress = (step: string) => {
        if (run.givenUp || clock.now() - (run.placed ?? Number.POSITIVE_INFINITY) < TELL_AFTER)
          return;
        if (say(known, operation, explain('OperationUnderWay', { step }))) deps.enqueue(known.name);
      };
      return await deps.attacher.run(operation, known.volume, signal, precheck, onProgress);
    } catch (err) {
      if (!isConflict(err) && !signal.aborted)
        logger.error({ err, volume: known.name, ...operation }, 'operation failed');
      return {
        is: 'unknown',
        message: (err as Error).message,
        nothingDone: kind === 'attach' && !run.begun,
      };
    }
  }

  function notBegunOn({ uid, volume }: VolumeState): string | undefined {
    const run = running.get(uid);
    if (run === undefined || run.begun || !run.isNew || !isOnSeveral(volume)) return undefined;
    return run.operation.kind === 'attach' ? run.operation.node : undefined;
  }

  /** Of a look nothing is told: it is about what is known of the node. */
  function say(
    known: VolumeState,
    { kind, node }: AttachmentOperation,
    what: Explanation | undefined,
  ): boolean {
    const entry = known.entries.find((each) => each.node === node);
    if (kind === 'verify' || entry === undefined || gistOf(entry) === (what && gistOf(what)))
      return false;
    const { message, detail } = what ?? {};
    known.entries = change(known.entries, node, { message, detail }, clock.now());
    return true;
  }

  function giveUp(known: VolumeState, node: string): boolean {
    const run = running.get(known.uid);
    if (run === undefined || run.operation.node !== node) return false;
    run.givenUp = true;
    running.delete(known.uid);
    deps.operations.giveUp(known.uid);
    return true;
  }

  function tellOfWait(known: VolumeState, now: number): number {
    const run = running.get(known.uid);
    if (run === undefined || run.placed !== undefined) return Number.POSITIVE_INFINITY;
    const left = run.since + TELL_AFTER - now;
    if (left > 0) return left;
    say(known, run.operation, explain('OperationQueued'));
    return Number.POSITIVE_INFINITY;
  }

  return { of: (uid) => running.get(uid), start, notBegunOn, giveUp, tellOfWait };
}
