import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { Logger } from '../api/logger.ts';

export interface DaemonLog {
  logger: Logger;
  /** Runs `work` with an ID that all of its log lines carry as `reconcile`. */
  around(work: () => Promise<void>): Promise<void>;
}

/**
 * Creates a log of JSON lines on standard error. All lines of a reconcile share an ID; its job on a
 * node is named by `uid` and `job`.
 */
export function createLog(verbose: boolean): DaemonLog {
  const ids = new AsyncLocalStorage<string>();
  const options = {
    level: verbose ? 'debug' : 'info',
    // Names and ISO 8601 times instead of pino's numbers, for people.
    formatters: { level: (level: string) => ({ level }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin() {
      const reconcile = ids.getStore();
      return reconcile === undefined ? {} : { reconcile };
    },
  };
  return {
    logger: pino(options, pino.destination({ dest: 2, sync: true })),
    around: (work) => ids.run(randomUUID().slice(0, 8), work),
  };
}
