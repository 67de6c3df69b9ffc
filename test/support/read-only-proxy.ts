import { createServer } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { parse, stringify } from 'yaml';

export interface ReadOnlyProxy {
  /** YAML of a kubeconfig for the proxy. */
  kubeconfig: string;
  /** Writes that it refused, as `METHOD path`. */
  refused: string[];
  stop(): Promise<void>;
}

/** Message of the refusal, as kube-apiserver's for a user without the right. */
export const FORBIDDEN = 'is forbidden: User "reader" cannot do that';

/**
 * Starts a proxy of an API server for a user who may only read: it refuses all writes, and answers
 * reviews of rights accordingly. The sandbox has no RBAC.
 * @param kubeconfig YAML for the API server
 */
export async function startReadOnlyProxy(kubeconfig: string): Promise<ReadOnlyProxy> {
  const config = parse(kubeconfig);
  const { cluster } = config.clusters[0];
  const target = new URL(cluster.server);
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64');
  const agent = new Agent({ ca, keepAlive: true });
  const refused: string[] = [];

  const server = createServer((incoming, response) => {
    const { method = 'GET', url = '/' } = incoming;
    if (method !== 'GET') {
      const isReview = url.includes('selfsubjectaccessreviews');
      if (!isReview) refused.push(`${method} ${url}`);
      incoming.resume();
      const body = isReview
        ? {
            ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
            ...{ metadata: {}, spec: {}, status: { allowed: false } },
          }
        : {
            ...{ apiVersion: 'v1', kind: 'Status', status: 'Failure', code: 403 },
            ...{ reason: 'Forbidden', message: `the request ${FORBIDDEN}` },
          };
      response
        .writeHead(isReview ? 201 : 403, { 'content-type': 'application/json' })
        .end(JSON.stringify(body));
      return;
    }
    const forwarded = request(
      new URL(url, target),
      { method, agent, headers: { ...incoming.headers, host: target.host } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    forwarded.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  config.clusters[0].cluster = { server: `http://127.0.0.1:${port}` };
  return {
    kubeconfig: stringify(config),
    refused,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      agent.destroy();
    },
  };
}
