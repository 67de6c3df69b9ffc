import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { StowageError } from '../api/errors.ts';
import type { Logger } from '../api/logger.ts';
import type { Clock } from '../workqueue/clock.ts';
import type { HttpAddress } from './http-address.ts';
import type { Readiness } from './readiness.ts';

export interface HttpEndpointOptions {
  address: HttpAddress;
  metricsPath: string;
  /** Without it, no metrics are served. */
  metrics?: () => Promise<{ contentType: string; body: string }>;
  ready(): Readiness;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}

export interface HttpEndpoint {
  port: number;
  close(): void;
}

const TEXT = 'text/plain; charset=utf-8';

/** Time (ms) for which a rendering of the metrics is served to all clients. */
const METRICS_AGE = 1000;
/**
 * Limits of concurrent connections, in total and per address: every pod of the cluster may be able
 * to reach the port.
 */
const CONNECTIONS = 256;
const CONNECTIONS_EACH = 16;
/** Timeout (ms) for the arrival of a request, and for an idle connection. */
const PATIENCE = 10_000;

/**
 * Serves /healthz (any response means that the process and its event loop are alive), /readyz and
 * the metrics. Throws a StowageError if it cannot listen.
 */
export async function startHttpEndpoint(options: HttpEndpointOptions): Promise<HttpEndpoint> {
  const { address, metricsPath, ready, clock, logger } = options;
  const metrics = options.metrics && shared(options.metrics, clock);

  async function answer(
    path: string,
  ): Promise<{ code: number; contentType: string; body: string }> {
    if (path === '/healthz') return { code: 200, contentType: TEXT, body: 'ok\n' };
    if (path === '/readyz') {
      const { ready: isReady, text } = ready();
      return { code: isReady ? 200 : 503, contentType: TEXT, body: text };
    }
    if (path === metricsPath && metrics !== undefined) return { code: 200, ...(await metrics()) };
    const known = ['/healthz', '/readyz', ...(metrics === undefined ? [] : [metricsPath])];
    return { code: 404, contentType: TEXT, body: `Known paths: ${known.join(', ')}\n` };
  }

  async function serve(
    { method, url = '/' }: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { ...HEADERS, allow: 'GET, HEAD' }).end();
      return;
    }
    try {
      const { code, contentType, body } = await answer(url.replace(/\?.*/, ''));
      response.writeHead(code, { ...HEADERS, 'content-type': contentType }).end(body);
    } catch (err) {
      logger.error({ err, path: url }, 'request to the HTTP endpoint failed');
      response.writeHead(500, { ...HEADERS, 'content-type': TEXT }).end('internal error\n');
    }
  }

  const asked = new WeakSet<Socket>();
  const server = createServer(
    {
      requestTimeout: PATIENCE,
      headersTimeout: PATIENCE,
      connectionsCheckingInterval: PATIENCE / 4,
    },
    (request, response) => {
      // Pipelined requests would be held in memory, with their responses.
      if (asked.has(request.socket)) {
        request.socket.destroy();
        return;
      }
      asked.add(request.socket);
      void serve(request, response);
    },
  );
  server.timeout = PATIENCE;
  limitConnections(server);
  server.listen(address.port, address.host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new StowageError('failed', `--http-endpoint ${address.text}: ${WHY[code] ?? message}`, {
      hint: 'Choose another address, or stop the program that listens there (`ss -ltnp` shows it).',
      cause,
    });
  }
  const { port } = server.address() as AddressInfo;
  logger.info({ address: address.text, port, metricsPath }, 'serving HTTP');
  return {
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Each connection serves a single request. */
const HEADERS = { connection: 'close', 'cache-control': 'no-store' };

/** Reads at most once per METRICS_AGE, and never concurrently. */
function shared<T>(read: () => Promise<T>, clock: Pick<Clock, 'now'>): () => Promise<T> {
  let last: { answer: Promise<T>; begun: number; ended: boolean } | undefined;
  return () => {
    if (last === undefined || (last.ended && clock.now() - last.begun >= METRICS_AGE)) {
      const made = { answer: read(), begun: clock.now(), ended: false };
      const end = () => {
        made.ended = true;
      };
      made.answer.then(end, end);
      last = made;
    }
    return last.answer;
  };
}

/**
 * Limits connections: closes the oldest one of an address at its limit, or the oldest of all at the
 * total limit. A client that holds connections, from any number of addresses, cannot block newer
 * ones such as a kubelet's probe.
 */
function limitConnections(server: Server): void {
  /**
   * Open sockets with their addresses, the oldest first: a closed socket no longer has its address.
   */
  const open = new Map<Socket, string>();
  const close = (socket: Socket | undefined) => {
    if (socket === undefined) return;
    open.delete(socket);
    socket.destroy();
  };
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const own = [...open].flatMap(([each, address]) => (address === remoteAddress ? [each] : []));
    if (own.length >= CONNECTIONS_EACH) close(own[0]);
    else if (open.size >= CONNECTIONS) close(open.keys().next().value);
    open.set(socket, remoteAddress);
    socket.on('close', () => open.delete(socket));
  });
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not listen on the port',
  ENOTFOUND: 'the host is unknown',
};
