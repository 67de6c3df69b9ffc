import { isIP } from 'node:net';
import { SocksClient } from 'socks';
import { Agent, buildConnector, type Dispatcher, errors, Pool, ProxyAgent } from 'undici';
import type { Credentials } from './credentials.ts';
import { MOST_SOCKS_BYTES, userOf } from './proxy.ts';

/** Options of agents, in ms. */
interface SocketOptions {
  timeout: number;
  keepAlive: boolean;
  keepAliveInitialDelay: number;
}

/**
 * Creates an agent whose connections go through a proxy: http, https or socks5. `trust` is for the
 * server; `socket` applies to each connection.
 */
export function createProxyAgent(
  proxy: URL,
  options: Agent.Options,
  trust: Credentials['tls'] & { allowPartialTrustChain: boolean },
  socket: SocketOptions,
): Dispatcher {
  const { timeout } = socket;
  if (proxy.protocol.startsWith('socks')) {
    return new Agent({ ...options, connect: socksConnector(proxy, trust, socket) });
  }
  // Like Go, it verifies an https proxy by the CA of the cluster. The client's certificate is only
  // for the API server.
  const { cert: _cert, key: _key, servername: _servername, ...ofProxy } = trust;
  const user = userOf(proxy);
  return new ProxyAgent({
    ...options,
    uri: `${proxy.protocol}//${proxy.host}`,
    // Like Go, also for a user without a password, and the other way around.
    ...(user && {
      token: `Basic ${Buffer.from(`${user.user}:${user.password}`).toString('base64')}`,
    }),
    requestTls: { ...trust, ...socket },
    proxyTls: { ...ofProxy, ...socket },
    // Without a limit, a proxy that does not answer would hold the connection.
    clientFactory: (origin, forProxy) =>
      new Pool(origin, { ...forProxy, allowH2: false, headersTimeout: timeout }),
  });
}

/**
 * Returns a connector of undici through a SOCKS5 proxy, which resolves the server's name, as in Go
 * (net/http). TLS begins behind the proxy. The timeout applies to each handshake.
 */
function socksConnector(
  proxy: URL,
  tls: buildConnector.BuildOptions,
  { timeout, keepAliveInitialDelay }: SocketOptions,
): buildConnector.connector {
  const secure = buildConnector({ ...tls, timeout, allowH2: false });
  const user = userOf(proxy);

  async function tunnel({ hostname, port, protocol }: buildConnector.Options) {
    // The library would throw in an event handler, which ends the process.
    if (Buffer.byteLength(hostname) > MOST_SOCKS_BYTES)
      throw new Error(`the name of the server has more than ${MOST_SOCKS_BYTES} bytes`);
    try {
      const { socket } = await SocksClient.createConnection({
        command: 'connect',
        proxy: {
          host: bare(proxy.hostname),
          port: Number(proxy.port || 1080),
          type: 5,
          ...(user && { userId: user.user, password: user.password }),
        },
        destination: {
          host: bare(hostname),
          port: Number(port || (protocol === 'https:' ? 443 : 80)),
        },
        timeout,
      });
      return socket;
    } catch (error) {
      // A new error: that of the library has the proxy's password.
      const { message, code } = error as NodeJS.ErrnoException;
      if (message === 'Proxy connection timed out') throw new errors.ConnectTimeoutError(message);
      throw Object.assign(new Error(message || code), code === undefined ? {} : { code });
    }
  }

  return (options, callback) => {
    tunnel(options).then(
      (socket) => {
        socket.setKeepAlive(true, keepAliveInitialDelay);
        if (options.protocol === 'https:') secure({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}

/** Returns a host of a URL without the brackets of an IPv6 address. */
function bare(host: string): string {
  const inside = host.replace(/^\[|\]$/g, '');
  return isIP(inside) === 6 ? inside : host;
}
