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
  /** The first one must be allowed to see /readyz. */
  users: readonly [User, ...User[]];
  flags?: readonly string[];
}

/** Where it keeps the key by which tokens of ServiceAccounts are signed. */
export const SIGNING_KEY = 'service-accounts.key';
/** Its own certificate, which it makes when it is started first, and who signed that. */
const CERTIFICATES = 'certificates';

export const certificateOf = (folder: string) =>
  readFile(join(folder, CERTIFICATES, 'apiserver.crt'), 'utf8');

/** Writes the keys and users that every start of the API server then uses. */
export async function prepareApiServer({ folder, users }: ApiServerOptions): Promise<void> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const secret = { mode: 0o600 };
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFile(join(folder, SIGNING_KEY), key, secret);
  await writeFile(join(folder, 'users.csv'), tokenFile(users), secret);
}

/** Starts kube-apiserver, or starts it again: on the same port, with the same certificate, keys and users. */
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
      // Pods need no token, and no controller that makes one.
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
