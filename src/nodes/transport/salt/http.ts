import type { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { ANSWER_LIMIT } from '../../answer-limit.ts';
import { NodeError } from '../../errors.ts';

/** Error for a missing answer: salt-api, or the salt-master behind it, is unreachable. */
export class SaltUnreachable extends Error {
  override readonly name = 'SaltUnreachable';
}

/**
 * Error for an account that salt-api denies a request: 401 or 403, or 400 for a client that is not
 * enabled.
 */
export class SaltDenied extends Error {
  override readonly name = 'SaltDenied';
  /** True if the token may be unknown (any more), so that another login may help. */
  readonly expired: boolean;

  constructor(message: string, expired: boolean) {
    super(message);
    this.expired = expired;
  }
}

export interface SaltRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
  /** Token of the session. */
  token?: string;
  /** Timeout (ms) of the whole request. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Called right before the first byte of the body, once connected; its error ends the request. */
  check?: (() => void) | undefined;
}

export interface SaltHttp {
  /** Returns the answer's JSON. Throws SaltUnreachable, SaltDenied, and the errors of `check`. */
  send(request: SaltRequest): Promise<unknown>;
  /**
   * Yields the answer's body as it arrives. The timeout is for its beginning, and for a silence in
   * it.
   */
  stream(request: SaltRequest): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT = 10_000;
/** Time (ms) to keep an idle connection: salt-api closes it after 10 s, CherryPy's default. */
const KEEP_ALIVE = 5000;

/** Creates an HTTPS client of one salt-api. `ca`: PEM; undefined for those that Node.js trusts. */
export function createSaltHttp(url: string, ca: string | undefined): SaltHttp {
  const base = new URL(url);
  const agent = new Agent({
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE,
    keepAliveMaxTimeout: KEEP_ALIVE,
    connect: {
      ...(ca === undefined ? {} : { ca }),
      // As for the API server: an intermediate CA is trusted without its root.
      allowPartialTrustChain: true,
      timeout: CONNECT_TIMEOUT,
      keepAlive: true,
      keepAliveInitialDelay: 15_000,
    },
  });

  async function request({ method, path, body, token, timeoutMs, signal, check }: SaltRequest) {
    const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return agent.request({
      origin: base.origin,
      path: base.pathname.replace(/\/+$/, '') + path,
      method,
      headers: {
        accept: path === '/events' ? 'text/event-stream' : 'application/json',
        ...(token === undefined ? {} : { 'x-auth-token': token }),
        ...(text && { 'content-type': 'application/json', 'content-length': String(text.length) }),
      },
      body: text === undefined ? null : checked(text, check),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal,
    });
  }

  async function answered(response: Dispatcher.ResponseData): Promise<Dispatcher.ResponseData> {
    const { statusCode } = response;
    if (statusCode === 200) return response;
    const message = textOf(await textWithin(response.body));
    if (statusCode === 401 || statusCode === 403) throw new SaltDenied(message, statusCode === 401);
    if (statusCode === 400) throw new SaltDenied(message, false);
    throw new SaltUnreachable(`${statusCode} ${message}`);
  }

  return {
    async send(asked) {
      const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(asked.timeoutMs)]);
      try {
        const { body } = await answered(await request({ ...asked, signal }));
        return JSON.parse(await textWithin(body));
      } catch (error) {
        throw explained(error, asked);
      }
    },
    async *stream(asked) {
      try {
        const { body } = await answered(await request(asked));
        for await (const chunk of body) yield chunk;
      } catch (error) {
        throw explained(error, asked);
      }
    },
    close: () => agent.destroy(),
  };
}

/**
 * Reads a body of limited size: Salt passes a minion's answer on as it is. Leaving the loop closes
 * the connection.
 */
async function textWithin(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > ANSWER_LIMIT)
      throw new SaltUnreachable(`its answer exceeds ${ANSWER_LIMIT >> 20} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the body after a call of `check`: undici reads it when it has a connection. */
function checked(text: Buffer, check?: () => void): Readable {
  async function* chunks() {
    check?.();
    yield text;
  }
  // undici takes any async iterable; its types lack that.
  return chunks() as unknown as Readable;
}

/**
 * Returns the error of the way to salt-api; errors of salt-api itself and of `check` are passed on.
 */
function explained(error: unknown, { signal, timeoutMs }: SaltRequest): unknown {
  if (signal.aborted) return signal.reason;
  if ([NodeError, SaltUnreachable, SaltDenied].some((known) => error instanceof known))
    return error;
  const { name, message, code } = error as Error & { code?: string };
  if (
    name === 'TimeoutError' ||
    code === 'UND_ERR_HEADERS_TIMEOUT' ||
    code === 'UND_ERR_BODY_TIMEOUT'
  ) {
    return new SaltUnreachable(`no answer within ${timeoutMs / 1000} s`, { cause: error });
  }
  // An AggregateError, of a host with several addresses, has a code and no message.
  return new SaltUnreachable(message || (code ?? name), { cause: error });
}

/** Returns the message of CherryPy's HTML error page, whose paragraph is Salt's. */
function textOf(body: string): string {
  const text = /<p>(.*?)<\/p>/s.exec(body)?.[1] ?? body;
  return text
    .replace(/<[^>]*>/g, '')
    .trim()
    .slice(0, 300);
}
