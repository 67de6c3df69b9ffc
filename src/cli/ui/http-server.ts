import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StowageError } from '../../api/errors.ts';
import type { Clock } from '../../kube/types.ts';
import { KEY_HEADER, type UiError, type UiErrorCode } from '../../ui/protocol.ts';
import { codeOf, messageOf } from '../lib/failure.ts';
import type { ActionCall, Actions } from './actions/actions.ts';
import { ASSETS, checkRequest, type Refusal, type Route } from './check-request.ts';
import { SECURITY_HEADERS } from './headers.ts';
import type { Hub } from './hub.ts';
import { publicMessage } from './public-text.ts';
import { pump } from './pump.ts';
import type { ReadRoute } from './screens/read-route.ts';
import type { Session } from './session.ts';

/** Limits of a server that only browsers of one user need. */
const MOST_CONNECTIONS = 64;
const MOST_FEEDS = 16;
const MOST_HEADERS = 64;
const HEADER_BYTES = 16_384;
/**
 * Timeout for the arrival of a request. It is long since it also runs while this process waits for
 * a processor, and then ends requests that have arrived.
 */
const ARRIVAL_MS = 60_000;
/** Timeout for an idle connection. */
const IDLE_MS = 10_000;

export interface UiServerOptions {
  /** 0: any free port. */
  port: number;
  session: Session;
  hub: Hub;
  clock: Clock;
  /** Contents of the files of the page, by name. */
  assets: ReadonlyMap<string, Buffer>;
  /** Issues a token, and returns the URL with it and its time in seconds. */
  link(): { url: string; seconds: number };
  /** Answers requests for data. They reject with an error whose message may be shown. */
  volume(name: string): Promise<object>;
  blocked(): Promise<object>;
  read(route: ReadRoute): Promise<object>;
  actions: Pick<Actions, 'answer'>;
}

export interface UiServer {
  port: number;
  /** Ends all connections and feeds at once. */
  close(): Promise<void>;
}

/** Starts the server on 127.0.0.1. Throws a StowageError if it cannot listen. */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const { session, hub, clock, assets } = options;
  let feeds = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headersDistinct: headers } = request;
    const { port } = server.address() as AddressInfo;
    const checked = checkRequest({ method, url, headers }, port, session.admits);
    if ('refusal' in checked) return refuse(response, checked.refusal);
    await answer(checked.route, request, response);
  }

  async function answer(
    route: Route,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    switch (route.do) {
      case 'asset': {
        const { file, type } = ASSETS[route.path] as (typeof ASSETS)[string];
        return send(response, 200, type, assets.get(file) ?? Buffer.alloc(0));
      }
      case 'session': {
        const body = await readJson(request);
        const token = body === undefined ? undefined : Reflect.get(body, 'token');
        const key = typeof token === 'string' ? session.exchange(token) : undefined;
        if (key !== undefined) return sendJson(response, 200, { key });
        return fail(response, 401, 'no-token', 'The link is not valid: it was used, or is too old');
      }
      case 'token':
        await readJson(request);
        return sendJson(response, 200, options.link());
      case 'feed':
        return feed(response);
      case 'blocked':
        return sendJson(response, 200, await options.blocked());
      case 'volume':
        return sendJson(response, 200, await options.volume(route.name));
      case 'read':
        return sendJson(response, 200, await options.read(route));
      case 'action':
        return act(route.call, request, response);
    }
  }

  async function act(
    call: ActionCall,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const [key = ''] = request.headersDistinct[KEY_HEADER] ?? [];
    const reply = await options.actions.answer(call, await readJson(request), key);
    if ('refusal' in reply) return sendJson(response, reply.status, reply.refusal);
    if ('body' in reply) return sendJson(response, 200, reply.body);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    response.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'application/x-ndjson' });
    // A command may print nothing for long. With the headers, the page knows that it has started.
    response.flushHeaders();
    // The command goes on without a reader.
    for await (const line of reply.lines(gone.signal)) {
      if (!response.write(line)) await once(response, 'drain', { signal: gone.signal });
    }
    response.end();
  }

  async function feed(response: ServerResponse): Promise<void> {
    if (feeds >= MOST_FEEDS)
      return fail(response, 429, 'too-many', 'Too many tabs show this page: close some');
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const subscription = hub.subscribe();
    feeds += 1;
    try {
      response.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'application/x-ndjson' });
      const sink = {
        write: (text: string) => response.write(text),
        drained: async (until: AbortSignal) => {
          await once(response, 'drain', { signal: until });
        },
      };
      await pump(subscription.outbox, sink, subscription.changed, clock, gone.signal);
    } finally {
      feeds -= 1;
      subscription.end();
      response.end();
    }
  }

  const server = createServer(
    {
      requestTimeout: ARRIVAL_MS,
      headersTimeout: ARRIVAL_MS,
      connectionsCheckingInterval: ARRIVAL_MS / 4,
      keepAliveTimeout: IDLE_MS,
      maxHeaderSize: HEADER_BYTES,
    },
    (request, response) => {
      serve(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else failWith(response, error);
      });
    },
  );
  server.maxHeadersCount = MOST_HEADERS;
  server.maxConnections = MOST_CONNECTIONS;
  // A browser takes any answer on a connection for that to its request there: a timeout answers
  // nothing. Neither does a malformed request.
  server.on('clientError', (_error, socket) => socket.destroy());
  server.on('upgrade', (_request, socket) => socket.destroy());
  server.listen(options.port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new StowageError('failed', `--port ${options.port}: ${(cause as Error).message}`, {
      hint: 'Choose another port, or omit --port for any free one.',
      cause,
    });
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, status: number, type: string, body: Buffer | string): void {
  response
    .writeHead(status, {
      ...SECURITY_HEADERS,
      'content-type': type,
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
}

const sendJson = (response: ServerResponse, status: number, body: object): void =>
  send(response, status, 'application/json; charset=utf-8', JSON.stringify(body));

const fail = (response: ServerResponse, status: number, code: UiErrorCode, error: string): void =>
  sendJson(response, status, { error, code } satisfies UiError);

function refuse(response: ServerResponse, { status, code, error, allow }: Refusal): void {
  if (allow !== undefined) response.setHeader('allow', allow);
  // The body, if there is one, stays unread.
  response.setHeader('connection', 'close');
  fail(response, status, code, error);
}

/** Sends the error of a request to the API server. */
function failWith(response: ServerResponse, error: unknown): void {
  const [status, code] = STATUS[codeOf(error)] ?? [502, 'failed'];
  fail(response, status, code, publicMessage(messageOf(error)));
}

const STATUS: Readonly<Record<string, readonly [status: number, code: UiErrorCode]>> = {
  'not-found': [404, 'not-found'],
  forbidden: [403, 'refused'],
};

/**
 * Reads a body of JSON. Returns undefined for anything but an object. The body is as long as its
 * header says, which was checked.
 */
async function readJson(request: IncomingMessage): Promise<object | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}
