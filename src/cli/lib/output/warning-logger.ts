import type { Logger } from '../../../api/logger.ts';
import type { Io } from '../io.ts';
import { printable } from './printable.ts';

/**
 * Returns a logger for a command's background work. Warnings and errors are lines on standard
 * error; lower levels are dropped.
 */
export function warningLogger({ stderr }: Pick<Io, 'stderr'>): Logger {
  const warn = (fields: object, message: string) => {
    const error: unknown = Reflect.get(fields, 'err');
    const why = error instanceof Error ? `: ${error.message}` : '';
    stderr.write(`warning: ${printable(`${message}${why}`)}\n`);
  };
  const nothing = () => {};
  return { debug: nothing, info: nothing, warn, error: warn };
}
