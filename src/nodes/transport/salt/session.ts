import { readSecrets, type SaltAccess, type Secrets } from './access.ts';
import {
  createSaltHttp,
  SaltDenied,
  type SaltHttp,
  type SaltRequest,
  SaltUnreachable,
} from './http.ts';

/** Error for an account or a secret that salt-api does not accept. */
export class SaltLoginRefused extends Error {
  override readonly name = 'SaltLoginRefused';
}

/** Request within a session, which adds the token. */
export type SessionRequest = Omit<SaltRequest, 'token' | 'signal'>;

export interface SaltSession {
  /**
   * Sends a request. Throws SaltUnreachable, SaltDenied, SaltLoginRefused, and the errors of its
   * `check`.
   */
  send(request: SessionRequest): Promise<unknown>;
  stream(request: SessionRequest): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

interface Login {
  http: SaltHttp;
  secrets: Secrets;
  token: string;
  /** Time (ms) of the renewal, by the given clock. */
  renewAt: number;
}

/** Timeout (ms) of a login, which takes a password check and a round trip to the salt-master. */
const LOGIN_TIMEOUT = 20_000;
/** Part of a token's life after which it is renewed. */
const RENEW_AFTER = 0.8;

/**
 * Creates a session with salt-api. It logs in at first, when its files changed, before its token
 * ends, and after a 401.
 */
export function createSaltSession(access: SaltAccess, clock: { now(): number }): SaltSession {
  const closed = new AbortController();
  let login: Login | undefined;
  let under: Promise<Login> | undefined;

  async function logIn(secrets: Secrets): Promise<Login> {
    const same = login?.secrets.ca === secrets.ca;
    const http = login !== undefined && same ? login.http : createSaltHttp(access.url, secrets.ca);
    // A previous client is not destroyed: its pending requests end by themselves.
    const { eauth, user } = access;
    const asked = clock.now();
    const answer = await http
      .send({
        method: 'POST',
        path: '/login',
        body: { eauth, username: user, password: secrets.secret },
        timeoutMs: LOGIN_TIMEOUT,
        signal: closed.signal,
      })
      .catch((error) => {
        throw error instanceof SaltDenied
          ? new SaltLoginRefused(error.message, { cause: error })
          : error;
      });
    const [granted] =
      (answer as { return?: { token?: unknown; start?: unknown; expire?: unknown }[] }).return ??
      [];
    const { token, start, expire } = granted ?? {};
    if (typeof token !== 'string' || typeof start !== 'number' || typeof expire !== 'number') {
      throw new SaltUnreachable('cannot parse its answer to the login');
    }
    return { http, secrets, token, renewAt: asked + (expire - start) * 1000 * RENEW_AFTER };
  }

  /** Returns a valid login. `refused`: a token that was not accepted. */
  async function current(refused?: string): Promise<Login> {
    const secrets = await readSecrets(access).catch((cause: Error) => {
      throw new SaltLoginRefused(cause.message, { cause });
    });
    const valid =
      login !== undefined &&
      login.token !== refused &&
      login.secrets.secret === secrets.secret &&
      login.secrets.ca === secrets.ca &&
      clock.now() < login.renewAt;
    if (valid) return login as Login;
    // Concurrent requests share one login.
    under ??= logIn(secrets).finally(() => {
      under = undefined;
    });
    login = await under;
    return login;
  }

  async function within<T>(work: (login: Login) => Promise<T>): Promise<T> {
    const first = await current();
    try {
      return await work(first);
    } catch (error) {
      if (!(error instanceof SaltDenied) || !error.expired) throw error;
      // An unknown token and a missing right both give a 401.
      return work(await current(first.token));
    }
  }

  return {
    send: (request) =>
      within(({ http, token }) => http.send({ ...request, token, signal: closed.signal })),
    async *stream(request) {
      const begun = await within(async ({ http, token }) => {
        const chunks = http.stream({ ...request, token, signal: closed.signal });
        return { chunks, first: await chunks.next() };
      });
      if (begun.first.done) return;
      yield begun.first.value;
      yield* begun.chunks;
    },
    async close() {
      closed.abort(new SaltUnreachable('closed'));
      await login?.http.close();
    },
  };
}
