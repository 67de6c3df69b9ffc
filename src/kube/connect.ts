import type { RequestOptions as HttpsOptions } from 'node:https';
import { StowageError } from '../api/errors.ts';
import { createClient } from './client.ts';
import { type KubeconfigOptions, loadKubeconfig } from './kubeconfig.ts';
import { type ApiCall, type Credentials, createTransport, type Transport } from './transport.ts';
import type { KubeClient } from './types.ts';

export interface ConnectOptions extends KubeconfigOptions {
  /** Default: the context's, else `default`. */
  namespace?: string | undefined;
  /** Default: one minute, which is what API servers give a request. */
  requestTimeoutMs?: number | undefined;
  /** Stowage's own, for the User-Agent. */
  version?: string | undefined;
  /** Told of each request that was sent. */
  onCall?: ((call: ApiCall) => void) | undefined;
}

/** Of what `GET /version` tells (apimachinery, version.Info). */
export interface ServerVersion {
  gitVersion: string;
}

export interface Connection {
  client: KubeClient;
  /** What the client speaks over: for clients that are held back. */
  transport: Transport;
  namespace: string;
  /** The base URL. */
  server: string;
  serverVersion(signal?: AbortSignal): Promise<ServerVersion>;
}

/**
 * A client for the cluster that kubeconfig and flags name. Nothing is sent yet. Throws a StowageError when the
 * kubeconfig is missing or wrong.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  let config = await loadKubeconfig(options);
  const cluster = config.getCurrentCluster();
  const server = cluster?.server ?? '';
  if (cluster?.proxyUrl) {
    throw new StowageError('failed', `Cluster ${cluster.name} is behind the proxy ${cluster.proxyUrl}`, {
      hint: 'Stowage connects directly only: use a context without proxy-url.',
    });
  }
  const namespace =
    options.namespace ??
    (config.getContextObject(config.getCurrentContext())?.namespace?.trim() || 'default');

  const asking = new Map<boolean, Promise<Credentials>>();

  async function credentials(renew: boolean): Promise<Credentials> {
    // client-node caches what an exec plugin answered until its expiry; only a config loaded anew asks again.
    if (renew) config = await loadKubeconfig(options);
    const https: HttpsOptions = {};
    try {
      await config.applyToHTTPSOptions(https);
    } catch (cause) {
      const found = cause instanceof Error ? cause.message : String(cause);
      throw new StowageError('forbidden', `No credentials for ${server}: ${found.trim()}`, {
        hint: 'Check the user of this context in the kubeconfig: its files, and that its exec plugin runs.',
        cause,
      });
    }
    return toCredentials(https);
  }

  const transport = createTransport({
    server,
    // Requests that start together share one run of an exec plugin.
    authenticate: (renew) => {
      const pending = asking.get(renew) ?? credentials(renew).finally(() => asking.delete(renew));
      asking.set(renew, pending);
      return pending;
    },
    userAgent: options.version === undefined ? 'stowage' : `stowage/${options.version}`,
    requestTimeoutMs: options.requestTimeoutMs ?? 60_000,
    onCall: options.onCall,
  });
  return {
    client: createClient(transport),
    transport,
    namespace,
    server,
    serverVersion: async (signal) => {
      const { gitVersion } = (await transport.send({ method: 'GET', path: '/version', signal })) as Partial<
        Record<string, unknown>
      >;
      return { gitVersion: String(gitVersion ?? 'unknown') };
    },
  };
}

function toCredentials({ headers, auth, ...https }: HttpsOptions): Credentials {
  const tls = {
    ca: https.ca,
    cert: https.cert,
    key: https.key,
    rejectUnauthorized: https.rejectUnauthorized,
    servername: https.servername,
  };
  return {
    headers: {
      ...(headers as Record<string, string> | undefined),
      ...(typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {}),
    },
    // An undefined rejectUnauthorized would be taken for false.
    tls: Object.fromEntries(
      Object.entries(tls).filter(([, value]) => value !== undefined),
    ) as Credentials['tls'],
  };
}
