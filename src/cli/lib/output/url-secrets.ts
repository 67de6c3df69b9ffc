/** Slashes after the scheme of a URL, also as JSON escapes them. */
const SLASHES = String.raw`(?:\\?/){2}`;

/** Part of a text that may be a URL: it ends at white space, and at quotes around it. */
const RUN = /[^\s"'<>]+/g;

const USER = new RegExp(String.raw`(${SLASHES})[^\s/?#"'<>\\]*@`, 'g');

/**
 * A password with a slash, which makes the URL invalid, and so part of an error message. A port is
 * no password.
 */
const PASSWORD = new RegExp(
  String.raw`(${SLASHES})[^\s/?#@:"'<>]+:(?!\d{1,5}[/?#])[^\s"'<>]*@`,
  'g',
);

/** Part of a text in which an encoded URL ends. */
const ENCODED_RUN = /[^\s@]+/g;
const ENCODED_USER = /(%3A%2F%2F)(?:(?!%40)[^\s@])*%40/gi;
const ENCODED_AT = '%40';

/**
 * Replaces users and passwords of URLs, also of encoded ones, by `mark`. Takes time that grows as
 * the length of the text: a part without an `@` after it is not searched. Pure.
 */
export function withoutUsers(text: string, mark: string): string {
  const user = (_: string, slashes: string) => `${slashes}${mark}@`;
  const plain = !text.includes('@')
    ? text
    : text.replace(RUN, (run) =>
        beforeLast(run, '@', (part) => part.replace(USER, user).replace(PASSWORD, user)),
      );
  return !plain.includes(ENCODED_AT)
    ? plain
    : plain.replace(ENCODED_RUN, (run) =>
        beforeLast(run, ENCODED_AT, (part) =>
          part.replace(ENCODED_USER, (_, slashes) => `${slashes}${mark}${ENCODED_AT}`),
        ),
      );
}

/** Maps a run up to the last `end` in it. */
function beforeLast(run: string, end: string, map: (part: string) => string): string {
  const last = run.lastIndexOf(end);
  if (last < 0) return run;
  const after = last + end.length;
  return `${map(run.slice(0, after))}${run.slice(after)}`;
}

/** Part of a URL before its query or fragment. */
const BEFORE_QUERY = String.raw`(?:[^\s"'<>?#\\]|\\/)+`;

const SCHEME = new RegExp(String.raw`\b[a-z][a-z0-9+.-]{0,30}:${SLASHES}`, 'i');

/** Characters of a query, or escapes such as \u0026, but no escaped quote. */
const QUERY = String.raw`(?:[^\s"'<>\\]|\\+(?!["'\\]))*`;

/**
 * Replaces queries and fragments of URLs by `?` and `mark`: they hold tokens and signatures. Takes
 * time that grows as the length of the text. Pure.
 */
export function withoutQueries(text: string, mark: string): string {
  if (!/[?#]/.test(text)) return text;
  const parts = new RegExp(BEFORE_QUERY, 'g');
  const query = new RegExp(QUERY, 'y');
  let kept = '';
  let at = 0;
  for (let part = parts.exec(text); part !== null; part = parts.exec(text)) {
    const end = part.index + part[0].length;
    if ((text[end] !== '?' && text[end] !== '#') || !SCHEME.test(part[0])) continue;
    kept += `${text.slice(at, end)}?${mark}`;
    query.lastIndex = end + 1;
    at = end + 1 + (query.exec(text)?.[0].length ?? 0);
    parts.lastIndex = at;
  }
  return kept + text.slice(at);
}
