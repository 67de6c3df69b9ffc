import { readFile } from 'node:fs/promises';

/** Address of salt-api, and the account that Stowage uses. */
export interface SaltAccess {
  /** URL, such as https://salt.example:8000. */
  url: string;
  /** Authentication method by its name in Salt: sharedsecret, pam, file, kubernetes_token. */
  eauth: string;
  user: string;
  /**
   * File with the password, shared secret or token, without newlines at its end; read before each
   * request.
   */
  secretFile: string;
  /** File with CA certificates (PEM) for salt-api; default: those that Node.js trusts. */
  caFile?: string;
}

export interface Secrets {
  secret: string;
  ca: string | undefined;
}

/** Reads the files, which may be replaced at any time. Throws an Error that names the file. */
export async function readSecrets({ secretFile, caFile }: SaltAccess): Promise<Secrets> {
  const [secret, ca] = await Promise.all([
    readFile(secretFile, 'utf8'),
    caFile === undefined ? undefined : readFile(caFile, 'utf8'),
  ]);
  return { secret: secret.replace(/\n+$/, ''), ca };
}
