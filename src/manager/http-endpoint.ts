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
  /** Without it there are no metrics. */
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

/** For how long one rendering of the metrics is the answer to all who ask, in ms. */
const METRICS_AGE = 1000;
/** Connections at once, in all and of one address: every pod of the cluster may be able to reach the port. */
const CONNECTIONS = 256;
const CONNECTIONS_EACH = 16;
/** ms, for a request to arrive, and for a connection without a byte either way. */
const PATIENCE = 10_000;

/**
 * Serves /healthz (an answer means that the process and its event loop are alive), /readyz and the metrics. Throws a
 * StowageError where it cannot listen.
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
    return { code: 404, contentType: TEXT, body: `There are: ${known.join(', ')}\n` };
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
      // Requests in advance of answers would be held in memory, with their answers.
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
      hint: 'Choose another address, or end what has this one (`ss -ltnp` shows it).',
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

/** A connection is for one request. */
const HEADERS = { connection: 'close', 'cache-control': 'no-store' };

/** Reads at most once in METRICS_AGE, and never twice at the same time. */
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
 * Closes the oldest connection of an address that has as many as one may, and the oldest of all where there are too many: whoever
 * holds connections, from however many addresses, keeps no newer one, such as a kubelet's probe, from its answer.
 */
function limitConnections(server: Server): void {
  /** With the address of each, the oldest first: a socket that is closed knows it no more. */
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
  EADDRINUSE: 'the port is taken',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'this user may not listen on the port',
  ENOTFOUND: 'the host is not known',
};
