import { isDeepStrictEqual } from 'node:util';
import { Agent, type Dispatcher } from 'undici';
import type { Credentials } from './credentials.ts';

/** As in client-go: a load balancer that drops idle connections after 60 s must not drop ours. */
const KEEP_ALIVE_MS = 30_000;

/** What a request may have beside what undici knows: see Request in transport.ts. */
export interface Checked {
  check?: (() => void) | undefined;
}

/** undici tells of the start of a request when it has a connection, right before it writes the first byte. */
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
 * The agent for TLS credentials: one while they stay the same, since certificates of exec plugins and files are replaced.
 * `connectTimeoutMs` is for each connection.
 */
export function createAgents(connectTimeoutMs: number): (tls: Credentials['tls']) => Dispatcher {
  let agent: Agent | undefined;
  let composed: Dispatcher | undefined;
  let agentTls: Credentials['tls'] | undefined;

  return (tls) => {
    if (composed === undefined || (tls !== agentTls && !isDeepStrictEqual(tls, agentTls))) {
      // Not destroyed: watches over the old agent end by themselves.
      agent?.close().catch(() => {});
      agentTls = tls;
      agent = new Agent({
        // A connection for each request in flight: over HTTP/2 one dead connection would silence every watch at once.
        allowH2: false,
        // The deadline covers headers and body.
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connect: {
          ...tls,
          timeout: connectTimeoutMs,
          keepAlive: true,
          keepAliveInitialDelay: KEEP_ALIVE_MS,
        },
      });
      composed = agent.compose(checked);
    }
    return composed;
  };
}
