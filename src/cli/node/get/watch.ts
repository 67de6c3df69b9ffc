import { codeOf } from '../../lib/failure.ts';
import type { Io } from '../../lib/io.ts';
import type { NodeRow } from '../../lib/nodes/node-row.ts';
import { warningLogger } from '../../lib/output/warning-logger.ts';
import type { ViewPrinter } from '../../lib/output/watch-printer.ts';

/** Time (ms) between observations: no event reports that a node goes away or fills up. */
const OBSERVE_EVERY = 10_000;

/**
 * Observes nodes repeatedly until the signal, whose reason is thrown. Throws errors of the first
 * observation. Logs later ones, except those that a repetition would not change.
 */
export async function watchNodes(
  observe: () => Promise<{ rows: NodeRow[]; errors: unknown[] }>,
  { replace, leave }: ViewPrinter<NodeRow>,
  io: Io,
): Promise<never> {
  const warn = (error: unknown, then = '') => {
    leave();
    warningLogger(io).warn({ err: error }, `nodes not checked${then}`);
  };
  const first = await observe();
  // Errors of some nodes do not prevent the output of the others.
  if (first.rows.length === 0 && first.errors.length > 0) throw first.errors[0];
  for (const error of first.errors) warn(error);
  replace(first.rows);
  for (;;) {
    await io.clock.sleep(OBSERVE_EVERY, io.signal).catch(() => {
      throw io.signal.reason;
    });
    try {
      replace((await observe()).rows);
    } catch (error) {
      if (io.signal.aborted) throw io.signal.reason;
      if (codeOf(error) === 'forbidden') throw error;
      warn(error, ', retrying');
    }
  }
}
