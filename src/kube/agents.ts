import { isDeepStrictEqual } from 'node:util';
import { Agent } from 'undici';
import type { Credentials } from './transport.ts';

/** As in client-go: a load balancer that drops idle connections after 60 s must not drop ours. */
const KEEP_ALIVE_MS = 30_000;

/**
 * The agent for TLS credentials: one while they stay the same, since certificates of exec plugins and files are replaced.
 * `connectTimeoutMs` is for each connection.
 */
export function createAgents(connectTimeoutMs: number): (tls: Credentials['tls']) => Agent {
  let agent: Agent | undefined;
  let agentTls: Credentials['tls'] | undefined;

  return (tls) => {
    if (agent === undefined || (tls !== agentTls && !isDeepStrictEqual(tls, agentTls))) {
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
        connect: { ...tls, timeout: connectTimeoutMs, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
      });
    }
    return agent;
  };
}
