import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Cluster } from '../objects/cluster.ts';
import { NoSuchPath, noMethod, Refusal } from '../refusal.ts';
import { ACCESS_REVIEWS, reviewed, SELF_REVIEWS, whoAsks } from './access-review.ts';
import { discovery } from './discovery.ts';
import { readEither, sendJson } from './exchange.ts';
import { admit } from './gate.ts';
import { OPENAPI_V2_TYPE, openapiV2, openapiV3 } from './openapi.ts';
import { serveResource } from './resources.ts';
import { targetOf } from './target.ts';

/** Version of Kubernetes that is imitated; kubectl warns if it differs much from its own. */
const VERSION = {
  major: '1',
  minor: '32',
  gitVersion: 'v1.32.0+stowage-sandbox',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
};
const HEALTH = new Set(['/healthz', '/readyz', '/livez']);

/** Returns the handler of all requests. A refused or failed request gets a Status. */
export function handlerFor(cluster: Cluster, token: string, authority: () => string) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      admit(request, token, authority());
      await serve(cluster, request, response);
    } catch (error) {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      if (error instanceof NoSuchPath) {
        response
          .writeHead(404, { 'content-type': 'text/plain; charset=utf-8' })
          .end('404 page not found\n');
        return;
      }
      const refusal =
        error instanceof Refusal ? error : new Refusal(500, 'InternalError', String(error));
      sendJson(response, refusal.status.code ?? 500, refusal.status);
    }
  };
}

async function serve(
  cluster: Cluster,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'https://127.0.0.1');
  if (request.method === 'GET') {
    if (HEALTH.has(pathname)) {
      response.end('ok');
      return;
    }
    if (pathname === '/openapi/v2') {
      response.writeHead(200, { 'content-type': OPENAPI_V2_TYPE }).end(openapiV2());
      return;
    }
    const document =
      pathname === '/version'
        ? VERSION
        : (discovery(pathname, cluster.kinds) ?? openapiV3(pathname, cluster.kinds));
    if (document !== undefined) return sendJson(response, 200, document);
  }
  if (request.method === 'POST' && pathname === ACCESS_REVIEWS) {
    return sendJson(response, 201, reviewed(await readEither(request)));
  }
  if (request.method === 'POST' && pathname === SELF_REVIEWS)
    return sendJson(response, 201, whoAsks());
  if (pathname === '/version') throw noMethod();
  const target = targetOf(pathname, cluster.kinds);
  await serveResource({ cluster, target, query: searchParams, request, response });
}
