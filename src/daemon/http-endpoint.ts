import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StowageError } from '../api/errors.ts';
import type { Logger } from '../api/logger.ts';
import type { HttpAddress } from './http-address.ts';
import type { Readiness } from './readiness.ts';

export interface HttpEndpointOptions {
  address: HttpAddress;
  metricsPath: string;
  /** Without it there are no metrics. */
  metrics?: () => Promise<{ contentType: string; body: string }>;
  ready(): Readiness;
  logger: Logger;
}

export interface HttpEndpoint {
  port: number;
  close(): void;
}

const TEXT = 'text/plain; charset=utf-8';

/**
 * Serves /healthz (an answer means that the process and its event loop are alive), /readyz and the metrics. Throws a
 * StowageError where it cannot listen.
 */
export async function startHttpEndpoint(options: HttpEndpointOptions): Promise<HttpEndpoint> {
  const { address, metricsPath, metrics, ready, logger } = options;

  async function answer(path: string): Promise<{ code: number; contentType: string; body: string }> {
    if (path === '/healthz') return { code: 200, contentType: TEXT, body: 'ok\n' };
    if (path === '/readyz') {
      const { ready: isReady, text } = ready();
      return { code: isReady ? 200 : 503, contentType: TEXT, body: text };
    }
    if (path === metricsPath && metrics !== undefined) return { code: 200, ...(await metrics()) };
    const known = ['/healthz', '/readyz', ...(metrics === undefined ? [] : [metricsPath])];
    return { code: 404, contentType: TEXT, body: `There are: ${known.join(', ')}\n` };
  }

  async function serve({ method, url = '/' }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    try {
      const { code, contentType, body } = await answer(url.replace(/\?.*/, ''));
      response.writeHead(code, { 'content-type': contentType, 'cache-control': 'no-store' }).end(body);
    } catch (err) {
      logger.error({ err, path: url }, 'request to the HTTP endpoint failed');
      response.writeHead(500, { 'content-type': TEXT }).end('internal error\n');
    }
  }

  const server = createServer((request, response) => void serve(request, response));
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

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'this user may not listen on the port',
  ENOTFOUND: 'the host is not known',
};
