import { withoutQueries, withoutUsers } from '../../lib/output/url-secrets.ts';
import { REMOVED } from './blocks.ts';
import { isSensitiveName } from './sensitive-name.ts';

type Rule = readonly [pattern: RegExp, replace: (...groups: string[]) => string];

/** Words after `Bearer` that are no token. */
const NO_TOKEN = /^(?:auth\w*|tokens?|realm|scheme|REMOVED)$/i;

/** Rules for headers, whose values may have several words. */
const HEADERS: readonly Rule[] = [
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
  [
    /(?<![\w-])((?:-u|--user|--proxy-user)[\s=]{1,8})[^\s:]{1,128}:\S+/g,
    (_, flag) => `${flag}${REMOVED}`,
  ],
  [/\b(login\s+\S+\s+password\s+)\S+/gi, (_, start) => `${start}${REMOVED}`],
  [/\b(pass(?:word|phrase|wd)\s+)(?:"[^"]*"?|'[^']*'?)/gi, (_, start) => `${start}${REMOVED}`],
  [/\b((?:api|access|private|secret) key\s*[:=]\s*)\S+/gi, (_, start) => `${start}${REMOVED}`],
  // Tokens of GitHub, GitLab, Slack and AWS, and bootstrap tokens of Kubernetes.
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

/** Removes JSON Web Tokens, and the dots after them. */
const withoutWebTokens = (line: string): string =>
  line.includes('eyJ') ? line.replace(/[\w.-]+/g, withoutWebToken) : line;

/**
 * Removes a token from a run of its characters. A single expression would search the run again from
 * each start of a token.
 */
function withoutWebToken(run: string): string {
  const parts = run.split('.');
  const first = parts.findIndex(
    (part, index) => /\beyJ[\w-]{8}/.test(part) && (parts[index + 1]?.length ?? 0) >= 4,
  );
  if (first < 0) return run;
  const part = parts[first] ?? '';
  const start = part.slice(0, part.search(/\beyJ[\w-]{8}/));
  return [...parts.slice(0, first), `${start}${REMOVED}`].join('.');
}

/** Removes secrets from a line, in time that grows as its length. Pure. */
export function redactLine(line: string): string {
  const plain = withoutQueries(withoutUsers(line, REMOVED), REMOVED);
  return apply(FORMS, withoutWebTokens(redactNamed(apply(HEADERS, plain))));
}

const apply = (rules: readonly Rule[], text: string): string =>
  rules.reduce((left, [pattern, replace]) => left.replace(pattern, replace), text);

/** A name, the quote after it, and the separator before its value. */
const NAMED = /(?<![\w.-])([\w.-]{1,256})\\*["']?\s{0,8}(?:=>|:=|[:=])\s{0,8}/g;

/** Text before a name that starts a line, as in YAML or a configuration file. */
const LINE_START = /^\s*(?:- +)*\\*["']?/;

/** Removes values of sensitive names, such as `password=…` and `"token": "…"`. */
function redactNamed(line: string): string {
  let redacted = '';
  let at = 0;
  const lineStart = LINE_START.exec(line)?.[0].length;
  for (const { 0: found, 1: name = '', index } of line.matchAll(NAMED)) {
    const start = index + found.length;
    if (index < at || start >= line.length || !isSensitiveName(name)) continue;
    const quote = /^\\*["']/.exec(line.slice(start, start + 20))?.[0] ?? '';
    const value = start + quote.length;
    redacted += `${line.slice(at, value)}${REMOVED}`;
    at = value + lengthOfValue(line.slice(value), quote, index === lineStart);
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
