const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DURATION = /^(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+$/;
/** Maximum length of a plausible duration. */
const MAX_LENGTH = 64;

/**
 * Parses a duration in Go's notation (`90s`, `1h30m`) into whole ms;
 * returns undefined for any other text.
 */
export function parseDuration(text: string): number | undefined {
  if (text.length > MAX_LENGTH || !DURATION.test(text)) return undefined;
  let ms = 0;
  for (const [, number, unit = ''] of text.matchAll(/([0-9.]+)(ms|s|m|h)/g)) {
    ms += Number(number) * (UNITS[unit] ?? 0);
  }
  return Math.round(ms);
}
