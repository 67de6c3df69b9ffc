import type { Logger } from '../api/logger.ts';
import type { Clock } from '../control/clock.ts';
import type { Operations } from '../control/operations.ts';
import { isConflict } from '../kube/errors.ts';
import { change } from './actual.ts';
import type { Attacher, Outcome } from './attacher.ts';
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
  whyNot: Records['whyNot'];
}

/** The operations of Volumes, one each at a time. */
export interface Work {
  /** Of the Volume of that UID; `since`: ms since the epoch. */
  of(uid: string): { operation: Operation; since: number } | undefined;
  /** @param was the node's entry before it */
  start(known: Known, operation: Operation, was: Entry | undefined, now: number): void;
}

/** Carries out what was decided, and puts what came of it into what is known. */
export function createWork(deps: WorkDeps): Work {
  const { clock, random, logger } = deps;
  const running = new Map<string, { operation: Operation; since: number }>();

  function start(known: Known, operation: Operation, was: Entry | undefined, now: number): void {
    running.set(known.uid, { operation, since: now });
    const { kind, node } = operation;
    logger.debug({ volume: known.name, node, kind }, 'operation');
    const began = deps.operations.start(known.uid, kind, node, async (signal) => {
      const outcome = await carryOut(known, operation, signal);
      settle(known, operation, outcome, clock.now(), random(), was);
      running.delete(known.uid);
      const done = outcome.is === 'attached' || outcome.is === 'detached';
      logger[done ? 'info' : 'debug']({ volume: known.name, node, kind, outcome }, 'operation ended');
      return kind === 'look' ? done : outcome.is === `${kind}ed`;
    });
    if (!began) running.delete(known.uid);
  }

  async function carryOut(known: Known, operation: Operation, signal: AbortSignal): Promise<Outcome> {
    try {
      return await deps.attacher.run(operation, known.volume, signal, async () => {
        // Where it was not let go of meanwhile.
        if (operation.kind === 'detach' && known.entries.some(({ node }) => node === operation.node)) {
          known.entries = change(known.entries, operation.node, { safeToDetach: true }, clock.now());
        }
        return deps.whyNot(known, operation);
      });
    } catch (err) {
      if (!isConflict(err)) logger.error({ err, volume: known.name, ...operation }, 'operation failed');
      return { is: 'unknown', message: (err as Error).message };
    }
  }

  return { of: (uid) => running.get(uid), start };
}
