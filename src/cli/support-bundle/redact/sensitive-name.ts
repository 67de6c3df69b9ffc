/** Words that make a name sensitive anywhere in it. */
const SENSITIVE = new Set([
  'accesskey',
  'apikey',
  'authorization',
  'authtoken',
  'cookie',
  'credential',
  'credentials',
  'passphrase',
  'passwd',
  'password',
  'passwords',
  'privatekey',
  'pw',
  'pwd',
  'secret',
  'secretkey',
  'secrets',
  'sharedsecret',
  'sig',
  'signature',
  'token',
  'tokens',
]);

/** Ends of such words: not all variables separate their words. */
const SENSITIVE_END = /(?:password|passwd|passphrase|secret|token)$/;

/** Words that make a name sensitive at its end, as in `DB_PASS`: `authMode` holds no secret. */
const SENSITIVE_LAST = new Set(['auth', 'pass', 'sshpass']);

/** Words that make a following `key` sensitive, as in `access_key` and `clientKeyData`. */
const KEY_OWNERS = new Set([
  'access',
  'account',
  'api',
  'auth',
  'client',
  'encryption',
  'private',
  'signing',
]);

/** Last words of names that describe or locate a secret, but do not contain it. */
const DESCRIBING = new Set([
  'audience',
  'audiences',
  'class',
  'count',
  'dir',
  'directory',
  'expiration',
  'file',
  'files',
  'host',
  'hosts',
  'kind',
  'mode',
  'name',
  'names',
  'namespace',
  'path',
  'paths',
  'ref',
  'reference',
  'refs',
  'review',
  'reviews',
  'seconds',
  'size',
  'type',
]);

/**
 * Reports whether a field, variable, flag or header of this name holds a secret, such as
 * `DB_PASSWORD`, `clientSecret`, `--api-key` and `X-Auth-Token`, but not `secretName`. Pure.
 */
export function isSensitiveName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  if (DESCRIBING.has(last)) return false;
  if (SENSITIVE_LAST.has(last)) return true;
  return words.some(
    (word, index) =>
      SENSITIVE.has(word) ||
      SENSITIVE_END.test(word) ||
      (word === 'key' && KEY_OWNERS.has(words[index - 1] ?? '')),
  );
}
