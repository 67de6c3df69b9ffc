const SECOND = 1;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/**
 * Upper bounds of ages in seconds, with their units, as in apimachinery's
 * duration.HumanDuration, which kubectl prints.
 */
const STEPS: readonly [upTo: number, large: [number, string], small?: [number, string]][] = [
  [2 * MINUTE, [SECOND, 's']],
  [10 * MINUTE, [MINUTE, 'm'], [SECOND, 's']],
  [3 * HOUR, [MINUTE, 'm']],
  [8 * HOUR, [HOUR, 'h'], [MINUTE, 'm']],
  [2 * DAY, [HOUR, 'h']],
  [8 * DAY, [DAY, 'd'], [HOUR, 'h']],
  [2 * YEAR, [DAY, 'd']],
  [8 * YEAR, [YEAR, 'y'], [DAY, 'd']],
  [Number.POSITIVE_INFINITY, [YEAR, 'y']],
];

/**
 * Returns the age of a time (RFC 3339) in short form; undefined without a time.
 * `now` is in ms since the epoch.
 */
export function age(since: string | undefined, now: number): string | undefined {
  const from = Date.parse(since ?? '');
  if (Number.isNaN(from)) return undefined;
  // Clocks differ: a time from another machine may be in the future.
  return shortDuration(Math.max(0, Math.floor((now - from) / 1000)));
}

/** Returns a duration in short form. `seconds` is a whole number, at least 0. */
export function shortDuration(seconds: number): string {
  const [, [size, unit], small] = STEPS.find(([upTo]) => seconds < upTo) ?? [0, [YEAR, 'y']];
  const rest = small === undefined ? 0 : Math.floor((seconds % size) / small[0]);
  return `${Math.floor(seconds / size)}${unit}${small && rest > 0 ? `${rest}${small[1]}` : ''}`;
}
