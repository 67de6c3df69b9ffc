import { StowageError } from '../../api/errors.ts';

/** More say the same again. */
const SHOWN = 10;

/** Throws a StowageError `usage` with a problem a line, if there is any. */
export function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const more = problems.length > SHOWN ? [`… and ${problems.length - SHOWN} more`] : [];
  throw new StowageError('usage', [...problems.slice(0, SHOWN), ...more].join('\n'));
}
