import { stringify } from 'yaml';

/** Returns a kubeconfig, as YAML, for one server with its certificate and its token. */
export function kubeconfigFor(server: { url: string; cert: string; token: string }): string {
  const name = 'stowage-sandbox';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: {
          server: server.url,
          'certificate-authority-data': Buffer.from(server.cert).toString('base64'),
        },
      },
    ],
    users: [{ name, user: { token: server.token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  });
}
