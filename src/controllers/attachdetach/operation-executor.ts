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

export interface OperationExecutorDeps {
  attacher: Attacher;
  operations: Operations<AttachmentOperationKind>;
  clock: Pick<Clock, 'now' | 'timeOfDay'>;
  /** Returns a number in [0, 1). */
  random: () => number;
  logger: Logger;
  statusUpdater: Pick<StatusUpdater, 'precheck' | 'beforeAttach'>;
  /** Requeues the Volume of that name, now or after a delay in ms. */
  enqueue(name: string, afterMs?: number): void;
}

/** Duration (ms) after which a running operation is shown in the status. */
export const SHOW_AFTER = 1000;

/** Duration (ms) after which an operation reports its progress. */
const REPORT_AFTER = 10_000;

interface Running {
  operation: AttachmentOperation;
  /** Start of the operation, by `now` of the clock. */
  since: number;
  /** Time at which the operation got a slot, by the same clock; undefined while it is queued. */
  placed: number | undefined;
  /** Set before an attach is recorded: from then on, it may have submitted a job. */
  begun: boolean;
  /** The node had no entry before the operation. */
  isNew: boolean;
  /** The node was force-detached meanwhile: discard the outcome, and submit no more jobs there. */
  canceled: boolean;
}

/** Executor of Volumes' operations, one at a time for each Volume. */
export interface OperationExecutor {
  /** Returns the running operation of the Volume with that UID. */
  of(uid: string): Readonly<Running> | undefined;
  /**
   * @param was entry of the node before the operation
   * @returns whether the operation was accepted: false while the previous one is still ending,
   *   and after a stop
   */
  start(
    known: VolumeState,
    operation: AttachmentOperation,
    was: NodeAttachment | undefined,
    now: number,
  ): boolean;
  /** Returns the node whose attach only `StatusUpdater.beforeAttach` may record. */
  notBegunOn(known: VolumeState): string | undefined;
  /**
   * Cancels the operation on a force-detached node, if one runs: its job may hang until the machine
   * is off, without access to its storage. The node is verified once the operation ends.
   * @returns whether an operation was canceled
   */
  cancel(known: VolumeState, node: string): boolean;
  /**
   * Reports in the entry that the operation has been queued for long.
   * @returns delay in ms until the next call; Infinity: none needed
   */
  reportQueued(known: VolumeState, now: number): number;
}

/**
 * Returns why an attach or detach failed. A device in use is no failure: the kubelet has not
 * unmounted it yet.
 */
function errorOf(kind: AttachmentOperationKind, outcome: Outcome): string | undefined {
  if (kind === 'verify' || outcome.is === 'detached' || outcome.is === 'in-use') return undefined;
  if (outcome.is !== 'attached') return outcome.message;
  return kind === 'attach' && outcome.safeToMount ? undefined : faultOf(outcome).message;
}

/** Creates an executor that runs operations and applies their outcomes to the known state. */
export function createOperationExecutor(deps: OperationExecutorDeps): OperationExecutor {
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
      canceled: false,
    };
    running.set(known.uid, run);
    const { kind, node } = operation;
    logger.debug({ volume: known.name, node, kind }, 'operation');
    let waited = false;
    const began = deps.operations.start(known.uid, kind, node, async (signal) => {
      run.placed = clock.now();
      // A running verification is shown sooner than a queued one, and the last reconcile did not
      // know when it would run.
      if (waited && kind === 'verify') deps.enqueue(known.name, SHOW_AFTER);
      // The next reconcile shows the change: most operations end soon after.
      setMessage(known, operation, undefined);
      const outcome = await carryOut(known, run, signal);
      if (run.canceled) {
        logger.debug({ volume: known.name, node, kind, outcome }, 'a canceled operation ended');
        known.unverifiedNodes.add(node);
        deps.enqueue(known.name);
        return false;
      }
      applyOutcome(known, operation, outcome, clock, random(), was);
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
      const forceDetached = explain('LetGoMeanwhile', { node });
      const precheck = async (unused?: 'unused') => {
        if (run.canceled) return forceDetached;
        // Skipped if the node was force-detached meanwhile.
        if (unused && isKnown()) {
          known.entries = change(known.entries, node, { safeToDetach: true }, clock.timeOfDay());
        }
        if (kind === 'attach') {
          run.begun = true;
          const unwritten = await deps.statusUpdater.beforeAttach(known);
          if (unwritten !== undefined) return unwritten;
        }
        // Check after the record is written: a concurrent deletion is either visible here, or sees
        // the attachment.
        const not = await deps.statusUpdater.precheck(known, operation);
        if (not !== undefined) return not;
        return run.canceled || (kind === 'attach' && !isKnown()) ? forceDetached : undefined;
      };
      const onProgress = (step: string) => {
        if (run.canceled || clock.now() - (run.placed ?? Number.POSITIVE_INFINITY) < REPORT_AFTER)
          return;
        if (setMessage(known, operation, explain('OperationUnderWay', { step })))
          deps.enqueue(known.name);
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

  /**
   * Sets the message of the entry, except for a verification, which does not change the device.
   * @returns whether the message changed
   */
  function setMessage(
    known: VolumeState,
    { kind, node }: AttachmentOperation,
    what: Explanation | undefined,
  ): boolean {
    const entry = known.entries.find((each) => each.node === node);
    if (kind === 'verify' || entry === undefined || gistOf(entry) === (what && gistOf(what)))
      return false;
    const { message, detail } = what ?? {};
    known.entries = change(known.entries, node, { message, detail }, clock.timeOfDay());
    return true;
  }

  function cancel(known: VolumeState, node: string): boolean {
    const run = running.get(known.uid);
    if (run === undefined || run.operation.node !== node) return false;
    run.canceled = true;
    running.delete(known.uid);
    deps.operations.cancel(known.uid);
    return true;
  }

  function reportQueued(known: VolumeState, now: number): number {
    const run = running.get(known.uid);
    if (run === undefined || run.placed !== undefined) return Number.POSITIVE_INFINITY;
    const left = run.since + REPORT_AFTER - now;
    if (left > 0) return left;
    setMessage(known, run.operation, explain('OperationQueued'));
    return Number.POSITIVE_INFINITY;
  }

  return { of: (uid) => running.get(uid), start, notBegunOn, cancel, reportQueued };
}
