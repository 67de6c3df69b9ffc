import { randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { DEFAULT_GATES, type FeatureGates } from '../api/feature-gates.ts';
import { BUILTIN_KINDS } from './builtin-kinds.ts';
import { selfSigned } from './certificate.ts';
import { bindVolumes } from './controllers/binder.ts';
import { removeContents } from './controllers/contents.ts';
import { collectGarbage } from './controllers/garbage-collector.ts';
import { DEFINITIONS, definitionKind, serveDefinitions } from './custom-resources.ts';
import { handlerFor } from './http/handler.ts';
import { KindRegistry } from './kind-registry.ts';
import { kubeconfigFor } from './kubeconfig.ts';
import type { Cluster } from './objects/cluster.ts';
import { create } from './objects/create.ts';
import { Store } from './store.ts';

export interface SandboxOptions {
  /** Port to listen on; 0 or absent for any free one. */
  port?: number;
  /** CustomResourceDefinitions (apiextensions.k8s.io/v1) to serve from the start. */
  crds: readonly object[];
  now?: () => Date;
  /** Gates that differ from Kubernetes' defaults. */
  featureGates?: Partial<FeatureGates>;
  /**
   * Components beside those of kube-controller-manager, such as a scheduler. Each may return a
   * function that ends it.
   */
  components?: readonly ((cluster: Cluster) => (() => Promise<void>) | undefined)[];
  /** Nodes with a kubelet, which completes the deletion of their pods. */
  kubeletNodes?: readonly string[];
}

export interface Sandbox {
  url: string;
  /** YAML with the token for the server: keep it from other users. */
  kubeconfig: string;
  /** Ends all watches at once, stops listening, and ends the components. */
  stop(): Promise<void>;
}

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/**
 * Starts an in-memory API server on 127.0.0.1, which admits only clients with the token in its
 * kubeconfig. Rejects if the port is in use or a CRD is invalid.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const now = options.now ?? (() => new Date());
  const cluster = newCluster(now, options);
  const ends = (options.components ?? []).map((start) => start(cluster));
  const token = randomBytes(32).toString('base64url');
  const certificate = selfSigned(now());
  let authority = '';
  const handle = handlerFor(cluster, token, () => authority);
  const server = createServer(certificate, (request, response) => void handle(request, response));
  // As in kube-apiserver: with the 5 s of Node.js, a busy client may send on a
  // connection that was just closed.
  server.keepAliveTimeout = 90_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  authority = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `https://${authority}`;
  return {
    url,
    kubeconfig: kubeconfigFor({ url, cert: certificate.cert, token }),
    async stop() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      for (const end of ends) await end?.();
    },
  };
}

function newCluster(
  now: () => Date,
  { crds, featureGates, kubeletNodes }: SandboxOptions,
): Cluster {
  // Clients of an earlier sandbox on the same port must learn that their versions are gone. So
  // versions start at the time in ms rather than at 1.
  const cluster: Cluster = {
    store: new Store(now().getTime()),
    kinds: new KindRegistry([...BUILTIN_KINDS, definitionKind()]),
    now,
    gates: { ...DEFAULT_GATES, ...featureGates },
    kubeletNodes: new Set(kubeletNodes),
  };
  serveDefinitions(cluster);
  collectGarbage(cluster);
  removeContents(cluster);
  bindVolumes(cluster);
  const options = { dryRun: false, fieldValidation: 'Strict', warn: () => {} } as const;
  const make = (table: string, body: object) => {
    const kind = cluster.kinds.byTable(table);
    if (kind) create(cluster, kind, undefined, body, options);
  };
  for (const name of NAMESPACES) make('namespaces', { metadata: { name } });
  for (const crd of crds) make(DEFINITIONS, crd);
  return cluster;
}
