import { isIP } from 'node:net';
import { SocksClient } from 'socks';
import { Agent, buildConnector, type Dispatcher, errors, Pool, ProxyAgent } from 'undici';
import type { Credentials } from './credentials.ts';

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
  return new ProxyAgent({
    ...options,
    uri: proxy.href,
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

  async function tunnel({ hostname, port, protocol }: buildConnector.Options) {
    try {
      const { socket } = await SocksClient.createConnection({
        command: 'connect',
        proxy: {
          host: bare(proxy.hostname),
          port: Number(proxy.port || 1080),
          type: 5,
          ...(proxy.username && {
            userId: decodeURIComponent(proxy.username),
            password: decodeURIComponent(proxy.password),
          }),
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
