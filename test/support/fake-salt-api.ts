import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned } from '../../src/sandbox/certificate.ts';

export interface SaltApiCall {
  client: string;
  fun: string;
  kwarg: { minion: string; function: string; arguments: Record<string, unknown> };
}

export interface FakeSaltApi {
  url: string;
  /** CA certificate, PEM. */
  ca: string;
  calls: SaltApiCall[];
  /** Bodies of the requests to /login. */
  logins: unknown[];
  /**
   * Returns the function's result on the minion; undefined for an unknown minion, false for one
   * that is down.
   */
  answer: (call: SaltApiCall) => unknown;
  /** Reports whether the account may call the runner. */
  allowed: boolean;
  /** Message of Salt instead of a result of the runner. */
  runnerSays: string | undefined;
  /** Status and body of all further requests, whatever they contain. */
  broken: { status: number; text: string } | undefined;
  /** Lifetime of a login, in s. */
  expireSeconds: number;
  secret: string;
  /** Sends the end of a job to all readers of the event stream. */
  tell(jid: string, minion: string, ret: unknown): void;
  /** Returns the number of readers of the event stream. */
  readers(): number;
  /** Ends all event streams. */
  hangUp(): void;
  /** Invalidates all tokens, like a restart. */
  forgetTokens(): void;
  stop(): Promise<void>;
}

/** Starts the part of salt-api that Stowage uses, over TLS and for one account. */
export async function startFakeSaltApi(): Promise<FakeSaltApi> {
  const { key, cert } = selfSigned(new Date());
  const tokens = new Set<string>();
  const readers = new Set<ServerResponse>();
  let jids = 0;
  const server: Server = createServer({ key, cert }, async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const say = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    const refuse = (status: number, why: string) =>
      say(status, `<html><h2>x</h2><p>${why}</p></html>`);
    if (fake.broken !== undefined) return refuse(fake.broken.status, fake.broken.text);
    if (request.url === '/login') {
      const login = JSON.parse(text) as { password?: string };
      fake.logins.push(login);
      if (login.password !== fake.secret) return refuse(401, 'Could not authenticate');
      const token = `token-${fake.logins.length}`;
      tokens.add(token);
      return say(200, {
        return: [{ token, start: 1000, expire: 1000 + fake.expireSeconds, perms: ['@stowage'] }],
      });
    }
    if (!tokens.has(String(request.headers['x-auth-token']))) return refuse(401, 'No permission');
    if (request.url === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('retry: 400\n');
      readers.add(response);
      response.on('close', () => readers.delete(response));
      return;
    }
    const [call] = JSON.parse(text) as [SaltApiCall];
    fake.calls.push(call);
    if (!fake.allowed) return refuse(401, 'Authentication failure');
    if (fake.runnerSays !== undefined) return say(200, { return: [fake.runnerSays] });
    const { minion } = call.kwarg;
    const ret = await fake.answer(call);
    if (call.fun === 'stowage.start') {
      const jid = `2026${++jids}`;
      return say(200, { return: [ret === undefined ? {} : { jid, minions: [minion] }] });
    }
    if (ret === undefined) return say(200, { return: [{}] });
    return say(200, { return: [{ [minion]: ret === false ? false : { ret, retcode: 0 } }] });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake: FakeSaltApi = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: cert,
    calls: [],
    logins: [],
    answer: () => ({ version: 1, answer: [] }),
    allowed: true,
    runnerSays: undefined,
    broken: undefined,
    expireSeconds: 3600,
    secret: 'secret',
    tell(jid, minion, ret) {
      const tag = `salt/job/${jid}/ret/${minion}`;
      const data = JSON.stringify({
        tag,
        data: { fun: 'stowage.submit', return: ret, retcode: 0 },
      });
      for (const reader of readers) reader.write(`tag: ${tag}\ndata: ${data}\n\n`);
    },
    readers: () => readers.size,
    hangUp() {
      for (const reader of readers) reader.destroy();
    },
    forgetTokens: () => tokens.clear(),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return fake;
}
