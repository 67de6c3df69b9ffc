import { StowageError } from '../../api/errors.ts';

/** Maximum number of problems shown. */
const SHOWN = 10;

/** Throws a StowageError `usage` with one problem a line, if there are any. */
export function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const more = problems.length > SHOWN ? [`… and ${problems.length - SHOWN} more`] : [];
  throw new StowageError('usage', [...problems.slice(0, SHOWN), ...more].join('\n'));
}
