import { StowageError } from '../../../api/errors.ts';
import type { SaltAccess } from '../../../nodes/transport/salt/access.ts';
import type { ConfigFile } from '../config/file.ts';

type SaltSettings = Pick<
  ConfigFile,
  'transport' | 'saltUrl' | 'saltEauth' | 'saltUser' | 'saltSecretFile' | 'saltCaFile'
>;

/**
 * Returns the access to salt-api; undefined for another transport. Throws a StowageError for
 * missing or invalid settings.
 */
export function saltOf(settings: SaltSettings): SaltAccess | undefined {
  const {
    transport,
    saltUrl,
    saltEauth = 'sharedsecret',
    saltUser = 'stowage',
    saltSecretFile,
    saltCaFile,
  } = settings;
  if (transport !== 'salt') return undefined;
  if (saltUrl === undefined || saltSecretFile === undefined) {
    throw new StowageError('usage', '--transport salt requires --salt-url and --salt-secret-file', {
      hint: 'Set up Salt as described in docs/salt.md.',
    });
  }
  checkSaltUrl(saltUrl);
  return {
    url: saltUrl,
    eauth: saltEauth,
    user: saltUser,
    secretFile: saltSecretFile,
    ...(saltCaFile === undefined ? {} : { caFile: saltCaFile }),
  };
}

/** Throws a StowageError `usage` for anything but an https URL. */
export function checkSaltUrl(url: string): void {
  if (URL.canParse(url) && new URL(url).protocol === 'https:') return;
  throw new StowageError('usage', `--salt-url ${url} is not an https:// URL`, {
    hint: 'Use https: the secret and the token are sent to this URL.',
  });
}
