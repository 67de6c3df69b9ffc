import type { RequestOptions as HttpsOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { StowageError } from '../api/errors.ts';
import { createClient } from './client.ts';
import type { Credentials } from './credentials.ts';
import type { ExecPlugin } from './exec-plugin.ts';
import { type KubeconfigOptions, type LoadedKubeconfig, loadKubeconfig } from './kubeconfig.ts';
import { proxyFor } from './proxy.ts';
import { type ApiCall, createTransport, type Doubt, type Transport } from './transport.ts';
import type { KubeClient } from './types.ts';

export interface ConnectOptions extends KubeconfigOptions {
  /** Default: the context's, else `default`. */
  namespace?: string | undefined;
  /** Default: one minute, which is also the API server's limit. */
  requestTimeoutMs?: number | undefined;
  /** Stowage's version, for the User-Agent. */
  version?: string | undefined;
  /** Called for each sent request. */
  onCall?: ((call: ApiCall) => void) | undefined;
}

/** Part of the response to `GET /version` (apimachinery, version.Info). */
export interface ServerVersion {
  gitVersion: string;
}

interface Loaded extends LoadedKubeconfig {
  proxy: URL | undefined;
}

export interface Connection {
  client: KubeClient;
  /** Transport of the client, for clients with limits or checks. */
  transport: Transport;
  namespace: string;
  /** Base URL. */
  server: string;
  /** Rereads the kubeconfig before the next request. An invalid kubeconfig changes nothing. */
  reload(): void;
  serverVersion(signal?: AbortSignal): Promise<ServerVersion>;
}

/**
 * Lifetime of found credentials (ms): files are read for them, and a thousand requests may run in a
 * second. Credentials that a server refuses are read again at once.
 */
const LASTING_MS = 1000;

/**
 * Creates a client for the cluster of kubeconfig and flags; sends nothing yet. Throws a
 * StowageError for a missing or wrong kubeconfig.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  let loaded = await load(options);
  const { config } = loaded;
  const server = serverOf(loaded);
  const namespace =
    options.namespace ??
    (config.getContextObject(config.getCurrentContext())?.namespace?.trim() || 'default');

  const asking = new Map<Doubt | undefined, Promise<Credentials>>();
  let found: { credentials: Credentials; at: number } | undefined;
  let toReload = false;

  /**
   * Loads the kubeconfig again. client-node caches the credentials of an exec plugin until they
   * expire; only a new config runs the plugin again.
   */
  async function reload(doubt: Doubt | undefined): Promise<void> {
    let now: Loaded;
    try {
      now = await load(options);
    } catch (error) {
      // The file may be half written: the previous config stays in use.
      if (doubt === 'refused') throw error;
      return;
    }
    if (doubt === 'unreached' && isSame(now, loaded)) return;
    loaded = now;
  }

  async function credentials(doubt: Doubt | undefined): Promise<Credentials> {
    if (doubt !== undefined || toReload) await reload(toReload ? undefined : doubt);
    toReload = false;
    const { config, impersonation } = loaded;
    const https: HttpsOptions = {};
    try {
      await config.applyToHTTPSOptions(https);
    } catch (error) {
      throw noCredentials(serverOf(loaded), config.getCurrentUser()?.exec, error);
    }
    const { headers, tls } = toCredentials(https);
    const credentials = {
      server: serverOf(loaded),
      proxy: loaded.proxy,
      headers: { ...headers, ...impersonation },
      tls,
    };
    found = { credentials, at: performance.now() };
    return credentials;
  }

  const transport = createTransport({
    server,
    // Requests that start together share one run of an exec plugin.
    authenticate: (doubt) => {
      if (
        doubt === undefined &&
        !toReload &&
        found !== undefined &&
        performance.now() - found.at < LASTING_MS
      ) {
        return Promise.resolve(found.credentials);
      }
      const pending = asking.get(doubt) ?? credentials(doubt).finally(() => asking.delete(doubt));
      asking.set(doubt, pending);
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
    reload() {
      toReload = true;
    },
    serverVersion: async (signal) => {
      const { gitVersion } = (await transport.send({
        method: 'GET',
        path: '/version',
        signal,
      })) as Partial<Record<string, unknown>>;
      return { gitVersion: String(gitVersion ?? 'unknown') };
    },
  };
}

/** Throws a StowageError, also for an unusable proxy. */
async function load(options: KubeconfigOptions): Promise<Loaded> {
  const loaded = await loadKubeconfig(options);
  return { ...loaded, proxy: proxyFor(serverOf(loaded), loaded.proxyUrl, process.env) };
}

const serverOf = ({ config }: LoadedKubeconfig): string => config.getCurrentCluster()?.server ?? '';

function isSame(a: Loaded, b: Loaded): boolean {
  const identityOf = ({ config, impersonation, proxy }: Loaded) => [
    proxy?.href,
    config.getCurrentCluster(),
    config.getCurrentUser(),
    impersonation,
  ];
  return isDeepStrictEqual(identityOf(a), identityOf(b));
}

function noCredentials(
  server: string,
  plugin: ExecPlugin | undefined,
  error: unknown,
): StowageError {
  const { code, message } = error as NodeJS.ErrnoException;
  // The output of a plugin is not quoted, as the parser would: it may be the token.
  const found =
    error instanceof SyntaxError
      ? `the exec plugin ${plugin?.command} printed no JSON`
      : message.trim() || `the exec plugin ${plugin?.command} failed without output`;
  const missing = code === 'ENOENT' && plugin?.installHint;
  return new StowageError(
    code === undefined ? 'forbidden' : 'failed',
    `No credentials for ${server}: ${found}`,
    {
      hint:
        missing ||
        'Check the user of this context in the kubeconfig: its files, and that its exec plugin runs.',
    },
  );
}

function toCredentials({ headers, auth, ...https }: HttpsOptions): Credentials {
  const tls = {
    ca: https.ca,
    cert: https.cert,
    key: https.key,
    rejectUnauthorized: https.rejectUnauthorized,
    servername: https.servername,
  };
  // Files end with a newline, which headers must not contain.
  const trimmed = Object.entries((headers ?? {}) as Record<string, string>).map(([name, value]) => [
    name,
    String(value).trim(),
  ]);
  return {
    headers: {
      ...Object.fromEntries(trimmed),
      ...(typeof auth === 'string'
        ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` }
        : {}),
    },
    // An undefined rejectUnauthorized would be taken for false.
    tls: Object.fromEntries(
      Object.entries(tls).filter(([, value]) => value !== undefined),
    ) as Credentials['tls'],
  };
}
