import { readFile } from 'node:fs/promises';

/** Where salt-api is, and who asks it. */
export interface SaltAccess {
  /** Such as https://salt.example:8000. */
  url: string;
  /** Salt's name of how the secret is checked: sharedsecret, pam, file, stowage_token. */
  eauth: string;
  user: string;
  /** Holds the password, the shared secret or the token; read before each login, newlines at its end are no part of it. */
  secretFile: string;
  /** Certificates (PEM) that may have signed salt-api's; default: those that Node.js trusts. */
  caFile?: string;
}

export interface Secrets {
  secret: string;
  ca: string | undefined;
}

/** What the files hold now: they are replaced while this runs. Throws an Error that names the file. */
export async function readSecrets({ secretFile, caFile }: SaltAccess): Promise<Secrets> {
  const [secret, ca] = await Promise.all([
    readFile(secretFile, 'utf8'),
    caFile === undefined ? undefined : readFile(caFile, 'utf8'),
  ]);
  return { secret: secret.replace(/\n+$/, ''), ca };
}
