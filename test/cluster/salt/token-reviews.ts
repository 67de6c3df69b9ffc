import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { selfSigned } from '../../../src/sandbox/certificate.ts';

/** The part of an API server that reviews tokens. */
export interface TokenReviews {
  url: string;
  caFile: string;
  /** Path of a file with the token of a user that may create TokenReviews. */
  tokenFile: string;
  /** Issues a new token of an account for an audience. */
  token(username: string, audience: string): Promise<string>;
  stop(): Promise<void>;
}

interface Review {
  spec: { token: string; audiences?: string[] };
}

/**
 * Starts a stand-in for the API server that only answers TokenReviews. Writes its files to
 * `folder`.
 */
export async function startTokenReviews(folder: string): Promise<TokenReviews> {
  const { key, cert } = selfSigned(new Date());
  const reviewer = randomBytes(16).toString('hex');
  const tokens = new Map<string, { username: string; audience: string }>();
  const server = createServer({ key, cert }, async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const isReview =
      request.method === 'POST' && request.url === '/apis/authentication.k8s.io/v1/tokenreviews';
    const status =
      request.headers.authorization !== `Bearer ${reviewer}` ? 401 : isReview ? 201 : 404;
    response.writeHead(status, { 'content-type': 'application/json' });
    if (status !== 201) return response.end(JSON.stringify({ kind: 'Status', code: status }));
    const review = JSON.parse(text) as Review;
    return response.end(JSON.stringify({ ...review, status: statusOf(review) }));
  });

  function statusOf({ spec: { token, audiences = [] } }: Review): object {
    const known = tokens.get(token);
    if (known === undefined) return { authenticated: false, error: 'invalid bearer token' };
    if (!audiences.includes(known.audience)) {
      return { authenticated: false, error: `token audiences [${known.audience}] is invalid` };
    }
    return {
      authenticated: true,
      audiences: [known.audience],
      user: {
        username: known.username,
        groups: ['system:serviceaccounts', 'system:authenticated'],
      },
    };
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caFile = join(folder, 'reviews-ca.pem');
  const tokenFile = join(folder, 'reviewer-token');
  await writeFile(caFile, cert);
  await writeFile(tokenFile, `${reviewer}\n`, { mode: 0o600 });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caFile,
    tokenFile,
    async token(username, audience) {
      const token = randomBytes(32).toString('hex');
      tokens.set(token, { username, audience });
      return token;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
