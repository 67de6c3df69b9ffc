import { readSecrets, type SaltAccess, type Secrets } from './access.ts';
import {
  createSaltHttp,
  SaltDenied,
  type SaltHttp,
  type SaltRequest,
  SaltUnreachable,
} from './http.ts';

/** The account or its secret is not taken. */
export class SaltLoginRefused extends Error {
  override readonly name = 'SaltLoginRefused';
}

/** What is sent within a session: it has the token. */
export type SessionRequest = Omit<SaltRequest, 'token' | 'signal'>;

export interface SaltSession {
  /** Throws SaltUnreachable, SaltDenied, SaltLoginRefused, and what the request's `check` does. */
  send(request: SessionRequest): Promise<unknown>;
  stream(request: SessionRequest): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

interface Login {
  http: SaltHttp;
  secrets: Secrets;
  token: string;
  /** By the clock given, in ms. */
  renewAt: number;
}

/** A login takes a password check and a round trip to the salt-master, in ms. */
const LOGIN_TIMEOUT = 20_000;
/** A token is renewed when this much of its life is over. */
const RENEW_AFTER = 0.8;

/** An account of salt-api that logs in when it has to: first, when its files changed, before its token ends, after a 401. */
export function createSaltSession(access: SaltAccess, clock: { now(): number }): SaltSession {
  const closed = new AbortController();
  let login: Login | undefined;
  let under: Promise<Login> | undefined;

  async function logIn(secrets: Secrets): Promise<Login> {
    const same = login?.secrets.ca === secrets.ca;
    const http = login !== undefined && same ? login.http : createSaltHttp(access.url, secrets.ca);
    // Not destroyed: what is under way over it ends by itself.
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
      throw new SaltUnreachable('its answer to the login is not understood');
    }
    return { http, secrets, token, renewAt: asked + (expire - start) * 1000 * RENEW_AFTER };
  }

  /** `refused`: the token that was not taken. */
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
    // Requests that find this out together log in once.
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
      // Both a token that is not known any more and a right that is not there are a 401.
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
