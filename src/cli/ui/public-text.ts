import { printable } from '../lib/output/printable.ts';
import { withoutQueries, withoutUsers } from '../lib/output/url-secrets.ts';

/** Maximum characters of names, and of messages. */
const MOST_NAME = 253;
const MOST_MESSAGE = 2000;
/** Maximum characters of texts with many lines, such as YAML. */
const MOST_TEXT = 1 << 18;

/** Removes users, queries and fragments of URLs: each may be a credential. */
export const withoutCredentials = (text: string): string =>
  withoutQueries(withoutUsers(text, '…'), '…');

/** Characters beyond the end of a cut text in which a login or a query may end. */
const BEYOND = 8192;

/**
 * Returns foreign text for the page: without credentials of URLs, control characters and marks of
 * direction, and of bounded length. Anything but a string is ''.
 */
function publicText(text: unknown, most: number): string {
  if (typeof text !== 'string') return '';
  // Cut last: half a login would not be recognized.
  const safe = printable(withoutCredentials(text.slice(0, most + BEYOND)));
  return safe.length > most ? `${safe.slice(0, most)}…` : safe;
}

export const publicName = (text: unknown): string => publicText(text, MOST_NAME);
/** Returns `NAMESPACE/NAME`, of which each part has its own bound. */
export const publicPair = (namespace: unknown, name: unknown): string =>
  `${publicName(namespace)}/${publicName(name)}`;
export const publicMessage = (text: unknown): string => publicText(text, MOST_MESSAGE);
export const publicLines = (text: unknown): string => publicText(text, MOST_TEXT);

/** Returns a time as RFC 3339; '' for anything else. */
export function publicTime(text: unknown): string {
  const time = typeof text === 'string' && text.length < 64 ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? '' : new Date(time).toISOString();
}

/** Returns data with all its texts without credentials of URLs. */
export function dataWithoutCredentials<T>(data: T): T {
  return JSON.parse(JSON.stringify(data), (_key, value: unknown) =>
    typeof value === 'string' ? withoutCredentials(value) : value,
  );
}
