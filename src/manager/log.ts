import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { Logger } from '../api/logger.ts';

export interface DaemonLog {
  logger: Logger;
  /** Gives what is done in `work` an id of its own, which all its lines carry as `reconcile`. */
  around(work: () => Promise<void>): Promise<void>;
}

/** JSON lines on standard error. What one reconcile logs has one id; its job on a node is named by `uid` and `job`. */
export function createLog(verbose: boolean): DaemonLog {
  const ids = new AsyncLocalStorage<string>();
  const options = {
    level: verbose ? 'debug' : 'info',
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
