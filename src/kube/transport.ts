import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { StowageError } from '../api/errors.ts';
import type { Credentials } from './credentials.ts';
import { type Deadline, isDeadline, startDeadline } from './deadline.ts';
import { AnswerTooLong, ConnectionError } from './errors.ts';
import { type Checked, createAgents } from './http-agents.ts';
import { apiError, objectOf } from './response.ts';

export interface TransportOptions {
  /** The base URL; a path in it is kept, as in front of proxied clusters. */
  server: string;
  /** Asked before every request. */
  authenticate: (doubt: Doubt | undefined) => Promise<Credentials>;
  userAgent: string;
  /** For the whole of a request but a watch's body, in ms. */
  requestTimeoutMs: number;
  /** Told of each request that was sent, those that are repeated included, unless its sender gave it up. */
  onCall?: ((call: ApiCall) => void) | undefined;
}

/**
 * What may be wrong with the credentials: with `refused` the server answered the last ones with a 401; with `unreached` no
 * server was found with them, which may be for another reason.
 */
export type Doubt = 'refused' | 'unreached';

export interface ApiCall extends What {
  /** The HTTP status code; undefined when no answer came. */
  code: number | undefined;
  /** Until the answer began. */
  ms: number;
}

/** What a request does, in the terms of RBAC. */
export interface What {
  verb: string;
  /** The plural, with a subresource as `volumes/status`; '' for a path that is of no resource. */
  resource: string;
}

export interface Request {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With its query. */
  path: string;
  body?: object;
  contentType?: string;
  /** Default: the method, in small letters, of no resource. */
  what?: What;
  signal?: AbortSignal | undefined;
  /**
   * Called right before the first byte of each try, when the connection is there; what it throws ends the request, and
   * nothing was sent.
   */
  check?: (() => void) | undefined;
  /** Most bytes of the answer. Default: what the server sends. */
  maxBytes?: number | undefined;
}

export interface Transport {
  server: string;
  /** The answer's JSON. Throws an AnswerTooLong beyond `maxBytes`. */
  send(request: Request): Promise<unknown>;
  /** The answer's body as it comes; the request's timeout ends with the headers. */
  stream(request: Request): AsyncGenerator<Buffer>;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** A server that says `Retry-After: 0` is overloaded all the same. */
const SHORTEST_WAIT_MS = 100;

export function createTransport({
  server,
  authenticate,
  userAgent,
  requestTimeoutMs,
  onCall,
}: TransportOptions): Transport {
  /** Whether the last try to reach the server failed. */
  let unreached = false;
  const agentFor = createAgents(Math.min(CONNECT_TIMEOUT_MS, requestTimeoutMs));

  async function attempt(request: Request, deadline: Deadline, refused: boolean) {
    const doubt = refused ? 'refused' : unreached ? 'unreached' : undefined;
    const { headers, tls, server: now = server } = await credentialsWithin(deadline, doubt);
    const base = new URL(now);
    const prefix = base.pathname.replace(/\/+$/, '');
    const text = request.body && JSON.stringify(request.body);
    const what = request.what ?? { verb: request.method.toLowerCase(), resource: '' };
    const started = performance.now();
    const tell = (code: number | undefined) =>
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
    const answer = agentFor(tls).request(sent);
    answer.then(
      ({ statusCode }) => {
        unreached = false;
        tell(statusCode);
      },
      (error) => {
        if (!request.signal?.aborted) unreached = true;
        // What `check` threw was never sent.
        if (!request.signal?.aborted && !(error instanceof StowageError)) tell(undefined);
      },
    );
    return answer;
  }

  /** Throws a StowageError that says what it waited for: the server was not asked anything yet. */
  async function credentialsWithin(
    deadline: Deadline,
    doubt: Doubt | undefined,
  ): Promise<Credentials> {
    try {
      return await abortable(authenticate(doubt), deadline.signal);
    } catch (cause) {
      if (!isDeadline(cause)) throw cause;
      throw new StowageError('timeout', `No credentials for ${server} came in time`, {
        hint: 'Look at the exec plugin of this user in the kubeconfig: run it by hand.',
        cause,
      });
    }
  }

  /** Tries again where the server surely did nothing: a 429, expired credentials, a read over a dead connection. */
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
      const { statusCode, headers, body } = response;
      if (statusCode >= 200 && statusCode < 300) return response;
      const text = await body.text();
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
    const late =
      isDeadline(error) || isDeadline(cause) || codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT';
    // An AggregateError, of a host with several addresses, has a code and no message.
    const what = late ? 'no answer in time' : message || codeOf(error);
    return new ConnectionError(server, `${spell(request)}: ${what}`, {
      code: late ? 'timeout' : 'failed',
      cause: error,
    });
  }

  const tooLong = (request: Request, maxBytes: number) =>
    new AnswerTooLong(server, `${spell(request)}: an answer of more than ${maxBytes} bytes`);

  return {
    server,

    async send(request) {
      const deadline = startDeadline(requestTimeoutMs, request.signal);
      try {
        const { body } = await answer(request, deadline);
        const { maxBytes = Number.POSITIVE_INFINITY } = request;
        return objectOf(await textWithin(body, maxBytes, () => tooLong(request, maxBytes)));
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

/** Leaving the loop early ends the connection. */
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

/** An exec plugin may hang; the request that waits for it must not. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** A request as messages have it: its query may be long. */
const spell = ({ method, path }: Request): string => `${method} ${path.replace(/\?.*/, '')}`;

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** A connection kept alive may be closed by the server just as it is used again. */
const isBrokenSocket = (error: unknown): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(error));
