import { isDeepStrictEqual } from 'node:util';
import { Agent, type Dispatcher } from 'undici';
import type { Credentials } from './credentials.ts';

/** Keep-alive (ms) as in client-go: load balancers may drop connections that are idle for 60 s. */
const KEEP_ALIVE_MS = 30_000;

/** Request option that undici does not know: see Request in transport.ts. */
export interface Checked {
  check?: (() => void) | undefined;
}

/** Calls `check` when undici starts a request: with a connection, right before the first byte. */
const checked: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { check } = options as Checked;
  if (check !== undefined) {
    const start = handler.onRequestStart;
    handler.onRequestStart = (...args) => {
      check();
      return start?.apply(handler, args);
    };
  }
  return dispatch(options, handler);
};

/**
 * Returns a function that provides the agent for TLS credentials and a proxy. An agent is reused
 * until these change, since certificates of exec plugins and files are replaced. `connectTimeoutMs`
 * applies to each connection.
 */
export function createAgents(
  connectTimeoutMs: number,
): (tls: Credentials['tls'], proxy?: URL) => Promise<Dispatcher> {
  let agent: Promise<Dispatcher> | undefined;
  let composed: Promise<Dispatcher> | undefined;
  let agentTls: Credentials['tls'] | undefined;
  let agentProxy: string | undefined;

  return (tls, proxy) => {
    if (
      composed === undefined ||
      proxy?.href !== agentProxy ||
      (tls !== agentTls && !isDeepStrictEqual(tls, agentTls))
    ) {
      // Not destroyed: watches over the old agent end by themselves.
      agent?.then((old) => old.close()).catch(() => {});
      agentTls = tls;
      agentProxy = proxy?.href;
      agent = createAgent(tls, proxy, connectTimeoutMs);
      composed = agent.then((made) => made.compose(checked));
    }
    return composed;
  };
}

async function createAgent(
  tls: Credentials['tls'],
  proxy: URL | undefined,
  timeout: number,
): Promise<Dispatcher> {
  const options = {
    // Each request in flight has a connection: over HTTP/2 a dead one would silence every watch
    // at once.
    allowH2: false,
    // The deadline covers headers and body.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const socket = { timeout, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
  const trust = {
    ...tls,
    // Go trusts each certificate of a pool, also an intermediate CA without its root. OpenSSL
    // does by this flag (X509_V_FLAG_PARTIAL_CHAIN).
    allowPartialTrustChain: true,
  };
  if (proxy === undefined) return new Agent({ ...options, connect: { ...trust, ...socket } });
  // Commands without a proxy load none of it.
  const { createProxyAgent } = await import('./proxy-agents.ts');
  return createProxyAgent(proxy, options, trust, socket);
}
