import { codeOf } from '../failure.ts';
import type { Io } from '../io.ts';
import { warningLogger } from '../output/warning-logger.ts';
import type { ViewPrinter } from '../output/watch-printer.ts';

/** Result of an observation, and the errors of names that could not be observed. */
export interface Observed<T> {
  rows: T[];
  errors: unknown[];
}

/**
 * Observes repeatedly until the signal, whose reason is thrown, for kinds whose changes no event
 * reports. Throws errors of the first observation. Logs later ones, except those that a repetition
 * would not change.
 * @param what things that a warning names, in the plural
 * @param everyMs time between observations, in ms
 */
export async function observeRepeatedly<T>(
  what: string,
  everyMs: number,
  observe: () => Promise<Observed<T>>,
  { replace, leave }: ViewPrinter<T>,
  io: Io,
): Promise<never> {
  const warn = (error: unknown, then = '') => {
    leave();
    warningLogger(io).warn({ err: error }, `${what} not checked${then}`);
  };
  const first = await observe();
  // Errors of some things do not prevent the output of the others.
  if (first.rows.length === 0 && first.errors.length > 0) throw first.errors[0];
  for (const error of first.errors) warn(error);
  replace(first.rows);
  for (;;) {
    await io.clock.sleep(everyMs, io.signal).catch(() => {
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
