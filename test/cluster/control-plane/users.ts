import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';

/** A user whom the API server authenticates by a token. */
export interface User {
  name: string;
  groups: readonly string[];
  token: string;
}

export function newUser(name: string, groups: readonly string[] = []): User {
  return { name, groups, token: randomBytes(24).toString('base64url') };
}

/** Returns the content of --token-auth-file: token, name, uid, and the groups as one field. */
export function tokenFile(users: readonly User[]): string {
  return users
    .map(({ name, groups, token }) => `${token},${name},${name},"${groups.join(',')}"\n`)
    .join('');
}

/** Returns a kubeconfig as YAML. `ca` is PEM. */
export function kubeconfigFor(server: { url: string; ca: string }, { name, token }: User): string {
  const named = (more: object) => [{ name: 'test', ...more }];
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: named({
      cluster: {
        server: server.url,
        'certificate-authority-data': Buffer.from(server.ca).toString('base64'),
      },
    }),
    users: [{ name, user: { token } }],
    contexts: named({ context: { cluster: 'test', user: name } }),
    'current-context': 'test',
  });
}
