import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { type Part, startPart } from '../part.ts';
import { tokenFile, type User } from './users.ts';

export interface ApiServerOptions {
  program: string;
  folder: string;
  port: number;
  etcdUrl: string;
  /** Users with tokens. The first user must have access to /readyz. */
  users: readonly [User, ...User[]];
  flags?: readonly string[];
}

/** Name of the file with the key that signs tokens of ServiceAccounts. */
export const SIGNING_KEY = 'service-accounts.key';
/** Directory of the API server's self-signed certificate, created on its first start. */
const CERTIFICATES = 'certificates';

export const certificateOf = (folder: string) =>
  readFile(join(folder, CERTIFICATES, 'apiserver.crt'), 'utf8');

/** Writes the keys and users that each start of the API server uses. */
export async function prepareApiServer({ folder, users }: ApiServerOptions): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const secret = { mode: 0o600 };
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFile(join(folder, SIGNING_KEY), key, secret);
  await writeFile(join(folder, 'users.csv'), tokenFile(users), secret);
}

/**
 * Starts kube-apiserver, also again: on the same port, with the same certificate, keys and users.
 */
export function startApiServer(options: ApiServerOptions): Promise<Part> {
  const { program, folder, port, etcdUrl, users, flags = [] } = options;
  return startPart({
    name: 'kube-apiserver',
    argv: [
      program,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--etcd-servers=${etcdUrl}`,
      `--cert-dir=${join(folder, CERTIFICATES)}`,
      `--service-account-key-file=${join(folder, SIGNING_KEY)}`,
      `--service-account-signing-key-file=${join(folder, SIGNING_KEY)}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-cluster-ip-range=10.96.0.0/16',
      `--token-auth-file=${join(folder, 'users.csv')}`,
      '--authorization-mode=Node,RBAC',
      '--anonymous-auth=false',
      // Pods need no token, and no controller creates ServiceAccounts' tokens.
      '--disable-admission-plugins=ServiceAccount',
      '--feature-gates=CrossNamespaceVolumeDataSource=true',
      ...flags,
    ],
    folder,
    ready: () => isReady(`https://127.0.0.1:${port}/readyz`, folder, users[0].token),
  });
}

async function isReady(url: string, folder: string, token: string): Promise<boolean> {
  const dispatcher = new Agent({ connect: { ca: await certificateOf(folder) } });
  try {
    return (await fetch(url, { dispatcher, headers: { authorization: `Bearer ${token}` } })).ok;
  } finally {
    await dispatcher.close();
  }
}
