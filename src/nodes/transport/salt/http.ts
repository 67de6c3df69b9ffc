import type { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { ANSWER_LIMIT } from '../../answer-limit.ts';
import { NodeError } from '../../errors.ts';

/** No answer that says anything: salt-api, or the salt-master behind it, is not there. */
export class SaltUnreachable extends Error {
  override readonly name = 'SaltUnreachable';
}

/** salt-api does not let this account do it: 401, or what it says of a client that is not enabled. */
export class SaltDenied extends Error {
  override readonly name = 'SaltDenied';
  /** True where the token is not known (any more): to log in again may help. */
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
  /** The session's. */
  token?: string;
  /** ms, for the whole of it. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Called right before the first byte of the body, when the connection is there; what it throws ends the request. */
  check?: (() => void) | undefined;
}

export interface SaltHttp {
  /** The answer's JSON. Throws SaltUnreachable, SaltDenied, and what `check` does. */
  send(request: SaltRequest): Promise<unknown>;
  /** The answer's body as it comes; the timeout is for its beginning, and for a silence in it. */
  stream(request: SaltRequest): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT = 10_000;
/** salt-api closes connections that are idle for 10 s, CherryPy's default. */
const KEEP_ALIVE = 5000;

/** HTTPS to one salt-api. `ca`: PEM; undefined for those that Node.js trusts. */
export function createSaltHttp(url: string, ca: string | undefined): SaltHttp {
  const base = new URL(url);
  const agent = new Agent({
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE,
    keepAliveMaxTimeout: KEEP_ALIVE,
    connect: {
      ...(ca === undefined ? {} : { ca }),
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
    const said = textOf(await textWithin(response.body));
    if (statusCode === 401 || statusCode === 403) throw new SaltDenied(said, statusCode === 401);
    if (statusCode === 400) throw new SaltDenied(said, false);
    throw new SaltUnreachable(`${statusCode} ${said}`);
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

/** A minion's answer is passed on by Salt as it is. Leaving the loop ends the connection. */
async function textWithin(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > ANSWER_LIMIT)
      throw new SaltUnreachable(`an answer of more than ${ANSWER_LIMIT >> 20} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** undici asks for the body when it has a connection. */
function checked(text: Buffer, check?: () => void): Readable {
  async function* chunks() {
    check?.();
    yield text;
  }
  // It takes any async iterable; its types do not say so.
  return chunks() as unknown as Readable;
}

/** What is wrong with the way to salt-api; what was said by it, or by `check`, is passed on. */
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

/** CherryPy's error pages are HTML; what Salt has to say is in the paragraph. */
function textOf(body: string): string {
  const said = /<p>(.*?)<\/p>/s.exec(body)?.[1] ?? body;
  return said
    .replace(/<[^>]*>/g, '')
    .trim()
    .slice(0, 300);
}
