import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { StowageError } from '../api/errors.ts';
import type { Credentials } from './credentials.ts';
import { type Deadline, isDeadline, startDeadline } from './deadline.ts';
import { AnswerTooLong, ConnectionError } from './errors.ts';
import { type Checked, createAgents } from './http-agents.ts';
import { spellProxy } from './proxy.ts';
import { apiError, objectOf } from './response.ts';

export interface TransportOptions {
  /** Base URL. Its path is kept, as proxied clusters need it. */
  server: string;
  /** Returns the credentials. Called before every attempt of a request. */
  authenticate: (doubt: Doubt | undefined) => Promise<Credentials>;
  userAgent: string;
  /** Timeout (ms) of a whole request, or of a watch up to its body. */
  requestTimeoutMs: number;
  /** Called for each sent request, retries included, unless the caller aborted it. */
  onCall?: ((call: ApiCall) => void) | undefined;
}

/**
 * Possible fault of the credentials. `refused`: the server answered the last ones with a 401.
 * `unreached`: no server was reached with them, which may have another reason.
 */
export type Doubt = 'refused' | 'unreached';

export interface ApiCall extends What {
  /** HTTP status code; undefined if no response arrived. */
  code: number | undefined;
  /** Time (ms) until the response began. */
  ms: number;
}

/** Verb and resource of a request, in the terms of RBAC. */
export interface What {
  verb: string;
  /** Plural, with a subresource as in `volumes/status`; '' for a path without a resource. */
  resource: string;
}

export interface Request {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  contentType?: string;
  /** Default: the method in lower case, and no resource. */
  what?: What;
  signal?: AbortSignal | undefined;
  /**
   * Called right before the first byte of each attempt, once a connection exists. An error thrown
   * here ends the request, and nothing is sent.
   */
  check?: (() => void) | undefined;
  /** Maximum bytes of the response; for a stream, of a refusal only. Default: no limit. */
  maxBytes?: number | undefined;
}

export interface Transport {
  server: string;
  /**
   * Returns the time of day of the API server, in ms since the epoch, by the header `Date` of its
   * last response and the time since; undefined before a response, or without that header.
   */
  serverTime(): number | undefined;
  /** Returns the JSON of the response. Throws an AnswerTooLong beyond `maxBytes`. */
  send(request: Request): Promise<unknown>;
  /** Yields the body of the response as it arrives. The request's timeout ends with the headers. */
  stream(request: Request): AsyncGenerator<Buffer>;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Minimum wait (ms): even a server that sends `Retry-After: 0` is overloaded. */
const SHORTEST_WAIT_MS = 100;

export function createTransport({
  server,
  authenticate,
  userAgent,
  requestTimeoutMs,
  onCall,
}: TransportOptions): Transport {
  /** True if the last attempt to reach the server failed. */
  let unreached = false;
  /** Time in the last response, and when it arrived by `performance.now`. */
  let told: { time: number; at: number } | undefined;
  /** Proxy of the last attempt, for errors. */
  let through: URL | undefined;
  const agentFor = createAgents(Math.min(CONNECT_TIMEOUT_MS, requestTimeoutMs));

  async function attempt(request: Request, deadline: Deadline, refused: boolean) {
    const doubt = refused ? 'refused' : unreached ? 'unreached' : undefined;
    const { headers, tls, server: now = server, proxy } = await credentialsWithin(deadline, doubt);
    through = proxy;
    const base = new URL(now);
    const prefix = base.pathname.replace(/\/+$/, '');
    const text = request.body && JSON.stringify(request.body);
    const what = request.what ?? { verb: request.method.toLowerCase(), resource: '' };
    const started = performance.now();
    const report = (code: number | undefined) =>
      onCall?.({ ...what, code, ms: performance.now() - started });
    const sent: Dispatcher.RequestOptions & Checked = {
      origin: base.origin,
      path: prefix + request.path,
      method: request.method,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        ...(text !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
        ...headers,
      },
      body: text ?? null,
      signal: deadline.signal,
      check: request.check,
    };
    const answer = agentFor(tls, proxy).then((agent) => agent.request(sent));
    answer.then(
      ({ statusCode, headers }) => {
        unreached = false;
        const time = Date.parse(String(headers.date));
        told = Number.isNaN(time) ? undefined : { time, at: performance.now() };
        report(statusCode);
      },
      (error) => {
        if (!request.signal?.aborted) unreached = true;
        // A request that `check` refused was never sent.
        if (!request.signal?.aborted && !(error instanceof StowageError)) report(undefined);
      },
    );
    return answer;
  }

  /** Returns the credentials. Throws a StowageError `timeout` if they are late. Sends nothing. */
  async function credentialsWithin(
    deadline: Deadline,
    doubt: Doubt | undefined,
  ): Promise<Credentials> {
    try {
      return await abortable(authenticate(doubt), deadline.signal);
    } catch (cause) {
      if (!isDeadline(cause)) throw cause;
      throw new StowageError('timeout', `Timed out waiting for credentials for ${server}`, {
        hint: 'Run the exec plugin of this user in the kubeconfig manually, to see where it hangs.',
        cause,
      });
    }
  }

  /** Sends a request. Retries on a 429, expired credentials, or a read over a dead connection. */
  async function answer(request: Request, deadline: Deadline): Promise<Dispatcher.ResponseData> {
    let renewed = false;
    let reconnected = false;
    for (;;) {
      let response: Dispatcher.ResponseData;
      try {
        response = await attempt(request, deadline, renewed);
      } catch (error) {
        if (reconnected || request.method !== 'GET' || !isBrokenSocket(error)) throw error;
        reconnected = true;
        continue;
      }
      const { statusCode, headers } = response;
      if (statusCode >= 200 && statusCode < 300) return response;
      const text = await textOf(response, request);
      if (statusCode === 401 && !renewed) {
        renewed = true;
        continue;
      }
      const wait = Number(headers['retry-after'] ?? Number.NaN);
      if (statusCode !== 429 || !(wait >= 0)) throw apiError(text, statusCode, spell(request));
      await sleep(Math.max(wait * 1000, SHORTEST_WAIT_MS), undefined, { signal: deadline.signal });
    }
  }

  function explain(error: unknown, request: Request): unknown {
    if (request.signal?.aborted) return request.signal.reason;
    if (error instanceof StowageError) return error;
    const { message, cause } = error as Error;
    // Only a proxy has a limit for headers.
    const late =
      isDeadline(error) ||
      isDeadline(cause) ||
      ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT'].includes(codeOf(error));
    // An AggregateError, for a host with several addresses, has a code and no message.
    const what = late ? 'no answer in time' : message || codeOf(error);
    const way = through === undefined ? '' : ` through the proxy ${spellProxy(through)}`;
    return new ConnectionError(server, `${spell(request)}${way}: ${what}`, {
      ...(through !== undefined && {
        hint: 'Check that the proxy is up and lets you reach the server: proxy-url of the kubeconfig, else HTTPS_PROXY and NO_PROXY.',
      }),
      code: late ? 'timeout' : 'failed',
      cause: error,
    });
  }

  /** Returns a body as text, also that of a refusal, which a node may have written. */
  function textOf({ body }: Dispatcher.ResponseData, request: Request): Promise<string> {
    const { maxBytes = Number.POSITIVE_INFINITY } = request;
    const what = `${spell(request)}: the answer exceeds ${maxBytes} bytes`;
    return textWithin(body, maxBytes, () => new AnswerTooLong(server, what));
  }

  return {
    server,

    serverTime: () => told && told.time + performance.now() - told.at,

    async send(request) {
      const deadline = startDeadline(requestTimeoutMs, request.signal);
      try {
        return objectOf(await textOf(await answer(request, deadline), request));
      } catch (error) {
        throw explain(error, request);
      } finally {
        deadline.release();
      }
    },

    async *stream(request) {
      const deadline = startDeadline(requestTimeoutMs, request.signal);
      try {
        const { body } = await answer(request, deadline);
        deadline.clear();
        // Leaving the loop early destroys the body, and with it the connection.
        for await (const chunk of body) yield chunk;
      } catch (error) {
        throw explain(error, request);
      } finally {
        deadline.release();
      }
    },
  };
}

/** Returns a body as text. Leaving the loop early ends the connection. */
async function textWithin(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLong: () => Error,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Rejects once the signal aborts: an exec plugin may hang, but the waiting request must not. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Returns a request as messages show it, without the query, which may be long. */
const spell = ({ method, path }: Request): string => `${method} ${path.replace(/\?.*/, '')}`;

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** Reports a broken connection: the server may close a kept-alive one just as it is used again. */
const isBrokenSocket = (error: unknown): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(error));
