import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { certificateOf } from '../control-plane/api-server.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import type { TokenReviews } from './token-reviews.ts';

/** Account that sends TokenReviews to the API server. */
const REVIEWER = 'system:serviceaccount:stowage-system:salt-master';

/**
 * Starts a real API server with ServiceAccounts, and issues their tokens. Writes its files to
 * `folder`.
 */
export async function startApiServerReviews(folder: string): Promise<TokenReviews> {
  const cluster = await startControlPlane();
  const kubectl = async (...args: string[]) =>
    (await execa(cluster.kubectl, ['--kubeconfig', cluster.kubeconfig, ...args])).stdout;
  const made = new Set<string>();

  async function token(username: string, audience: string): Promise<string> {
    const [, , namespace = '', name = ''] = username.split(':');
    if (!made.has(username)) {
      await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } });
      made.add(username);
    }
    const audiences = audience === '' ? [] : ['--audience', audience];
    return kubectl('create', 'token', name, '-n', namespace, ...audiences);
  }
  const apply = (object: object) =>
    execa(cluster.kubectl, ['--kubeconfig', cluster.kubeconfig, 'apply', '-f', '-'], {
      input: JSON.stringify(object),
    });

  try {
    const caFile = join(folder, 'api-server-ca.pem');
    const tokenFile = join(folder, 'reviewer-token');
    await writeFile(caFile, await certificateOf(cluster.folder));
    await writeFile(tokenFile, await token(REVIEWER, ''), { mode: 0o600 });
    const binding = [
      '--clusterrole=system:auth-delegator',
      '--serviceaccount=stowage-system:salt-master',
    ];
    await kubectl('create', 'clusterrolebinding', 'salt-master', ...binding);
    return { url: cluster.url, caFile, tokenFile, token, stop: cluster.stop };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
