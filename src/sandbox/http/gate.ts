import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../refusal.ts';

const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * Throws unless a request has the token and names this very server: programs that follow
 * this server may act as root. By a Host of another name, a web page could reach a
 * loopback port (DNS rebinding).
 */
export function admit(request: IncomingMessage, token: string, authority: string): void {
  // Digests have the same length, as timingSafeEqual requires.
  if (!timingSafeEqual(digest(request.headers.authorization ?? ''), digest(`Bearer ${token}`)))
    throw new Refusal(401, 'Unauthorized', 'Unauthorized');
  if (request.headers.host !== authority)
    throw new Refusal(403, 'Forbidden', `this server is ${authority}, not ${request.headers.host}`);
}
