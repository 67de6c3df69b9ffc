import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Resource } from '../../src/api/meta.ts';
import { createClient } from '../../src/kube/client.ts';
import type { Credentials } from '../../src/kube/credentials.ts';
import { createTransport, type Doubt, type TransportOptions } from '../../src/kube/transport.ts';
import type { KubeClient } from '../../src/kube/types.ts';

export const WIDGETS: Resource = {
  group: 'example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: false,
};

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface FakeApi {
  url: string;
  client: KubeClient;
  /** Requests in order. */
  seen: Seen[];
  close(): Promise<void>;
}

/**
 * Starts an HTTP server on loopback with the test's answers, for cases that a real API server
 * cannot produce.
 */
export async function fakeApi(
  answer: (request: Seen, response: ServerResponse) => void,
  options: {
    requestTimeoutMs?: number;
    onCall?: TransportOptions['onCall'];
    authenticate?: (doubt: Doubt | undefined) => Promise<Credentials>;
  } = {},
): Promise<FakeApi> {
  const seen: Seen[] = [];
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk) => {
      body += chunk;
    });
    incoming.on('end', () => {
      const request = {
        method: incoming.method ?? '',
        url: incoming.url ?? '',
        headers: incoming.headers,
        body,
      };
      seen.push(request);
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const transport = createTransport({
    server: url,
    authenticate: options.authenticate ?? (async () => ({ headers: {}, tls: {} })),
    userAgent: 'stowage/test',
    requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
    onCall: options.onCall,
  });
  return {
    url,
    client: createClient(transport),
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const json = (response: ServerResponse, body: object, statusCode = 200): void => {
  response.writeHead(statusCode, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

export const status = (code: number, reason: string, message = reason) => ({
  apiVersion: 'v1',
  kind: 'Status',
  status: 'Failure',
  code,
  reason,
  message,
});

export const widget = (name: string, resourceVersion: number | string, extra: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, uid: `uid-${name}`, resourceVersion: String(resourceVersion) },
  ...extra,
});
