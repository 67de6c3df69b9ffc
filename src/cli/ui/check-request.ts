import { isDnsSubdomain } from '../../api/dns-name.ts';
import { KEY_HEADER, type UiError } from '../../ui/protocol.ts';
import type { ActionCall } from './actions/actions.ts';
import { type ReadRoute, readRoute } from './screens/read-route.ts';

/** Maximum bytes of a request's body. */
export const MOST_BYTES = 4096;

/** Action of the server for a request. */
export type Route =
  | { do: 'asset'; path: string }
  | { do: 'session' }
  | { do: 'token' }
  | { do: 'feed' }
  | { do: 'blocked' }
  | { do: 'action'; call: ActionCall }
  | { do: 'volume'; name: string }
  | ({ do: 'read' } & ReadRoute);

export interface Refusal extends UiError {
  status: number;
  /** Methods of the path, for status 405. */
  allow?: string;
}

/** Parts of a request that decide whether it is served. Each header has all its values. */
export interface RequestFacts {
  method: string;
  /** Path with query, as sent. */
  url: string;
  headers: Readonly<Record<string, readonly string[] | undefined>>;
}

/** Files of the page, by path. The page has no others, so no path is looked up in a directory. */
export const ASSETS: Readonly<Record<string, { file: string; type: string }>> = {
  '/': { file: 'index.html', type: 'text/html; charset=utf-8' },
  '/page.mjs': { file: 'page.mjs', type: 'text/javascript; charset=utf-8' },
  '/page.css': { file: 'page.css', type: 'text/css; charset=utf-8' },
  '/icon.svg': { file: 'icon.svg', type: 'image/svg+xml' },
};

const VOLUME_PATH = '/api/volumes/';

const FIXED: Readonly<Record<string, { method: 'GET' | 'POST'; route: Route }>> = {
  '/api/session': { method: 'POST', route: { do: 'session' } },
  '/api/token': { method: 'POST', route: { do: 'token' } },
  '/api/feed': { method: 'GET', route: { do: 'feed' } },
  '/api/blocked': { method: 'GET', route: { do: 'blocked' } },
  '/api/plan': { method: 'POST', route: { do: 'action', call: 'plan' } },
  '/api/run': { method: 'POST', route: { do: 'action', call: 'run' } },
  '/api/choices': { method: 'POST', route: { do: 'action', call: 'choices' } },
  '/api/rights': { method: 'POST', route: { do: 'action', call: 'rights' } },
};

const refused = (
  status: number,
  code: UiError['code'],
  error: string,
  allow?: string,
): Refusal => ({
  status,
  code,
  error,
  ...(allow !== undefined && { allow }),
});

const NOT_FOUND = refused(404, 'not-found', 'There is nothing at this path');

/**
 * Decides on a request by its first lines: returns the route, or the refusal, which contains
 * nothing of the request. Pure, but for `admits`.
 * @param port port of the server
 * @param admits reports whether a key is valid
 */
export function checkRequest(
  { method, url, headers }: RequestFacts,
  port: number,
  admits: (key: string) => boolean,
): { route: Route } | { refusal: Refusal } {
  const one = (name: string): string | undefined => {
    const values = headers[name] ?? [];
    // A repeated header is ambiguous, and equals no expected value.
    return values.length > 1 ? '' : values[0];
  };
  const host = one('host');
  // Another name may resolve to 127.0.0.1 (DNS rebinding).
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    return { refusal: refused(403, 'wrong-host', 'The page is served under 127.0.0.1 only') };
  const origin = one('origin');
  if (origin !== undefined && origin !== `http://${host}`)
    return { refusal: refused(403, 'wrong-origin', 'The request comes from another page') };
  const found = routeOf(url);
  const site = one('sec-fetch-site');
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  if (!isOwn && !isOpening(url, one('sec-fetch-mode'), one('sec-fetch-dest')))
    return { refusal: refused(403, 'cross-site', 'The request comes from another site') };
  if (found === undefined) return { refusal: NOT_FOUND };
  if (method !== found.method) {
    return {
      refusal: refused(405, 'wrong-method', 'The path has another method', found.method),
    };
  }
  const { route } = found;
  // Browsers send the origin with each POST. Without one, the request is not the page's.
  if (route.do === 'action' && origin === undefined)
    return { refusal: refused(403, 'wrong-origin', 'The request does not come from the page') };
  const isOpen = route.do === 'asset' || route.do === 'session';
  if (!isOpen && !admits(one(KEY_HEADER) ?? ''))
    return { refusal: refused(401, 'no-key', 'The key of the session is missing or not valid') };
  const problem = method === 'POST' ? bodyProblem(one) : unexpectedBody(one);
  return problem === undefined ? { route } : { refusal: problem };
}

/**
 * Reports whether a browser opens the page in a tab. The page itself has no data, and a link in
 * another page, or the file of `--open`, is a cross-site navigation.
 */
const isOpening = (url: string, mode: string | undefined, dest: string | undefined): boolean =>
  url === '/' && mode === 'navigate' && dest === 'document';

function routeOf(url: string): { method: 'GET' | 'POST'; route: Route } | undefined {
  if (Object.hasOwn(ASSETS, url)) return { method: 'GET', route: { do: 'asset', path: url } };
  if (Object.hasOwn(FIXED, url)) return FIXED[url];
  const name = url.startsWith(VOLUME_PATH) ? url.slice(VOLUME_PATH.length) : '';
  // A name has neither `%` nor `/`, so the path needs no decoding.
  if (isDnsSubdomain(name)) return { method: 'GET', route: { do: 'volume', name } };
  const read = readRoute(url);
  return read && { method: 'GET', route: { do: 'read', ...read } };
}

function bodyProblem(one: (name: string) => string | undefined): Refusal | undefined {
  if (!/^application\/json(; *charset=utf-8)?$/i.test(one('content-type') ?? ''))
    return refused(415, 'wrong-content', 'The body must be JSON');
  const length = one('content-length') ?? '';
  if (!/^[0-9]{1,9}$/.test(length) || one('transfer-encoding') !== undefined)
    return refused(411, 'wrong-content', 'The request must have the length of its body');
  return Number(length) > MOST_BYTES
    ? refused(413, 'too-large', `A body has at most ${MOST_BYTES} bytes`)
    : undefined;
}

function unexpectedBody(one: (name: string) => string | undefined): Refusal | undefined {
  const isEmpty = (one('content-length') ?? '0') === '0' && one('transfer-encoding') === undefined;
  return isEmpty ? undefined : refused(400, 'wrong-content', 'The request must not have a body');
}
