import type { Logger } from '../api/logger.ts';
import type { Clock } from '../control/clock.ts';
import type { Operations } from '../control/operations.ts';
import { isConflict } from '../kube/errors.ts';
import { change } from './actual.ts';
import type { Attacher, Outcome } from './attacher.ts';
import { isOnSeveral } from './desired.ts';
import type { Known } from './known.ts';
import type { Records } from './records.ts';
import { settle } from './settle.ts';
import type { Entry, Operation, OperationKind } from './types.ts';

export interface WorkDeps {
  attacher: Attacher;
  operations: Operations<OperationKind>;
  clock: Pick<Clock, 'now'>;
  /** In [0, 1). */
  random: () => number;
  logger: Logger;
  records: Pick<Records, 'whyNot' | 'beforeAttach'>;
}

interface Running {
  operation: Operation;
  /** ms since the epoch */
  since: number;
  /** Since when it has a place, ms since the epoch; undefined: it waits for one. */
  placed: number | undefined;
  /** Another one than a look may have been submitted. */
  begun: boolean;
  /** The node had no entry before it. */
  isNew: boolean;
}

/** The operations of Volumes, one each at a time. */
export interface Work {
  /** Of the Volume of that UID. */
  of(uid: string): Readonly<Running> | undefined;
  /** @param was the node's entry before it */
  start(known: Known, operation: Operation, was: Entry | undefined, now: number): void;
  /** The node of which nothing is to be written down yet: `Records.beforeAttach` does. */
  notBegunOn(known: Known): string | undefined;
}

/** Carries out what was decided, and puts what came of it into what is known. */
export function createWork(deps: WorkDeps): Work {
  const { clock, random, logger } = deps;
  const running = new Map<string, Running>();

  function start(known: Known, operation: Operation, was: Entry | undefined, now: number): void {
    const run: Running = { operation, since: now, placed: undefined, begun: false, isNew: was === undefined };
    running.set(known.uid, run);
    const { kind, node } = operation;
    logger.debug({ volume: known.name, node, kind }, 'operation');
    const began = deps.operations.start(known.uid, kind, node, async (signal) => {
      run.placed = clock.now();
      const outcome = await carryOut(known, run, signal);
      settle(known, operation, outcome, clock.now(), random(), was);
      running.delete(known.uid);
      const done = outcome.is === 'attached' || outcome.is === 'detached';
      logger[done ? 'info' : 'debug']({ volume: known.name, node, kind, outcome }, 'operation ended');
      return kind === 'look' ? done : outcome.is === `${kind}ed`;
    });
    if (!began) running.delete(known.uid);
  }

  async function carryOut(known: Known, run: Running, signal: AbortSignal): Promise<Outcome> {
    const { operation } = run;
    const { kind, node } = operation;
    const isKnown = () => known.entries.some((entry) => entry.node === node);
    try {
      return await deps.attacher.run(operation, known.volume, signal, async () => {
        // Where it was not let go of meanwhile.
        if (kind === 'detach' && isKnown()) {
          known.entries = change(known.entries, node, { safeToDetach: true }, clock.now());
        }
        if (kind === 'attach') {
          run.begun = true;
          const unwritten = await deps.records.beforeAttach(known);
          if (unwritten !== undefined) return unwritten;
        }
        // After the record: whoever deletes the Volume either is seen by this, or sees that it is attached.
        const not = await deps.records.whyNot(known, operation);
        if (not !== undefined || kind !== 'attach') return not;
        return isKnown() ? undefined : `it was let go of on node ${node} meanwhile`;
      });
    } catch (err) {
      if (!isConflict(err)) logger.error({ err, volume: known.name, ...operation }, 'operation failed');
      return { is: 'unknown', message: (err as Error).message, nothingDone: kind === 'attach' && !run.begun };
    }
  }

  function notBegunOn({ uid, volume }: Known): string | undefined {
    const run = running.get(uid);
    if (run === undefined || run.begun || !run.isNew || !isOnSeveral(volume)) return undefined;
    return run.operation.kind === 'attach' ? run.operation.node : undefined;
  }

  return { of: (uid) => running.get(uid), start, notBegunOn };
}
