import { REMOVED } from './blocks.ts';
import { isSensitiveName } from './sensitive-name.ts';

type Rule = readonly [pattern: RegExp, replace: (...groups: string[]) => string];

/** Slashes after the scheme of a URL, also as JSON escapes them. */
const SLASHES = String.raw`(?:\\?/){2}`;

/** A character of a URL, or an escape such as \u0026, but not an escaped quote. */
const IN_URL = String.raw`(?:[^\s"'<>\\]|\\+(?!["'\\]))`;

/** Words after `Bearer` that are no token. */
const NO_TOKEN = /^(?:auth\w*|tokens?|realm|scheme|REMOVED)$/i;

/** Rules for URLs and headers, whose values may have several words. */
const ADDRESSES: readonly Rule[] = [
  [
    new RegExp(String.raw`(${SLASHES})[^\s/?#"'<>\\]*@`, 'g'),
    (_, slashes) => `${slashes}${REMOVED}@`,
  ],
  // A password with a slash makes the URL invalid, and the URL part of an error message.
  [
    new RegExp(String.raw`(${SLASHES})[^\s/?#@:"'<>]+:(?!\d{1,5}(?:[/?#]|$))[^\s"'<>]*@`, 'g'),
    (_, slashes) => `${slashes}${REMOVED}@`,
  ],
  [/(%3A%2F%2F)(?:(?!%40)[^\s@])*%40/gi, (_, slashes) => `${slashes}${REMOVED}%40`],
  // Queries and fragments hold tokens and signatures.
  [
    new RegExp(
      String.raw`\b([a-z][a-z0-9+.-]{0,30}:${SLASHES}(?:[^\s"'<>?#\\]|\\/)*)[?#]${IN_URL}*`,
      'gi',
    ),
    (_, url) => `${url}?${REMOVED}`,
  ],
  [
    /(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{0,40}(?:token|key|auth|secret))(\\*["']?\s{0,8}[:=]\s{0,8})(\\*["'])?([^\n]+)/gi,
    (_, name, separator, quote = '', rest = '') => {
      const end = quote === '' ? -1 : endOfQuote(rest, quote);
      return `${name}${separator}${quote}${REMOVED}${end < 0 ? '' : rest.slice(end)}`;
    },
  ],
  [
    /\b(bearer\s+)([\w.~+/=-]{6,})/gi,
    (whole, scheme, token = '') => (NO_TOKEN.test(token) ? whole : `${scheme}${REMOVED}`),
  ],
  [
    /\b(basic\s+)([A-Za-z0-9+/]{4,}={0,2})/gi,
    (whole, scheme, code = '') => (decoded(code).includes(':') ? `${scheme}${REMOVED}` : whole),
  ],
];

/** Rules for arguments, and for secrets that their form shows. */
const FORMS: readonly Rule[] = [
  [
    /(?<![\w-])(--?[\w-]{1,100}\s+)("[^"]*"?|'[^']*'?|\S+)/g,
    (whole, flag = '') => (isSensitiveName(flag) ? `${flag}${REMOVED}` : whole),
  ],
  [/(?<![\w-])((?:-u|--user|--proxy-user)[\s=]+)[^\s:]+:\S+/g, (_, flag) => `${flag}${REMOVED}`],
  [/\b(login\s+\S+\s+password\s+)\S+/gi, (_, start) => `${start}${REMOVED}`],
  [/\b(pass(?:word|phrase|wd)\s+)(?:"[^"]*"?|'[^']*'?)/gi, (_, start) => `${start}${REMOVED}`],
  [/\b((?:api|access|private|secret) key\s*[:=]\s*)\S+/gi, (_, start) => `${start}${REMOVED}`],
  // JWT; then tokens of GitHub, GitLab, Slack and AWS, and bootstrap tokens of Kubernetes.
  [/\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)*/g, () => REMOVED],
  [/\b(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-)[\w-]{10,}/g, () => REMOVED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, () => REMOVED],
  // The name of an Event ends with hexadecimal digits.
  [/(?<![\w.-])[a-z0-9]{6}\.(?![0-9a-f]{16})[a-z0-9]{16}(?![\w.-])/g, () => REMOVED],
  // A private key in base64, as kubeconfigs have it.
  [
    /LS0tLS1CRUdJTi[A-Za-z0-9+/=]+/g,
    (code) => (/^-----BEGIN [A-Z0-9 ]*PRIVATE KEY/.test(decoded(code)) ? REMOVED : code),
  ],
];

const decoded = (code: string): string => Buffer.from(code, 'base64').toString('latin1');

/** Removes secrets from a line. Pure. */
export const redactLine = (line: string): string =>
  apply(FORMS, redactNamed(apply(ADDRESSES, line)));

const apply = (rules: readonly Rule[], text: string): string =>
  rules.reduce((left, [pattern, replace]) => left.replace(pattern, replace), text);

/** A name, the quote after it, and the separator before its value. */
const NAMED = /(?<![\w.-])([\w.-]{1,256})\\*["']?\s{0,8}(?:=>|:=|[:=])\s{0,8}/g;

/** Text before a name that starts a line, as in YAML or a configuration file. */
const STARTS_LINE = /^\s*(?:- +)*\\*["']?$/;

/** Removes values of sensitive names, such as `password=…` and `"token": "…"`. */
function redactNamed(line: string): string {
  let redacted = '';
  let at = 0;
  for (const { 0: found, 1: name = '', index } of line.matchAll(NAMED)) {
    const start = index + found.length;
    if (index < at || start >= line.length || !isSensitiveName(name)) continue;
    const quote = /^\\*["']/.exec(line.slice(start, start + 20))?.[0] ?? '';
    const value = start + quote.length;
    redacted += `${line.slice(at, value)}${REMOVED}`;
    at = value + lengthOfValue(line.slice(value), quote, STARTS_LINE.test(line.slice(0, index)));
  }
  return redacted + line.slice(at);
}

/** @param isLine set if an unquoted value extends to the end of the line */
function lengthOfValue(text: string, quote: string, isLine: boolean): number {
  if (quote !== '') {
    const end = endOfQuote(text, quote);
    return end < 0 ? text.length : end;
  }
  return isLine ? text.length : (/^\S*/.exec(text)?.[0].length ?? 0);
}

/** Returns the index of the quote that ends a text, or -1. An escaped quote ends none. */
function endOfQuote(text: string, quote: string): number {
  let at = text.indexOf(quote);
  while (at > 0 && text[at - 1] === '\\') at = text.indexOf(quote, at + 1);
  return at;
}
