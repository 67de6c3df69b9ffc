import type { Logger } from '../../../api/logger.ts';
import type { Io } from '../io.ts';
import { printable } from './printable.ts';

/** For what a command runs in the background: a warning is a line on standard error, and less than that is nothing. */
export function warningLogger({ stderr }: Pick<Io, 'stderr'>): Logger {
  const warn = (fields: object, message: string) => {
    const error: unknown = Reflect.get(fields, 'err');
    const why = error instanceof Error ? `: ${error.message}` : '';
    stderr.write(`warning: ${printable(`${message}${why}`)}\n`);
  };
  const nothing = () => {};
  return { debug: nothing, info: nothing, warn, error: warn };
}
