import { describe, expect, test } from '@jest/globals';
import { checkRequest, type RequestFacts } from '../../../src/cli/ui/check-request.ts';

const KEY = 'the-key';
const HOST = '127.0.0.1:8090';

const OWN = { origin: `http://${HOST}` };

type Headers = Record<string, string | string[] | undefined>;

/** Checks a request with valid headers but for the given ones. */
function check(method: string, url: string, headers: Headers = {}) {
  const all: Headers = {
    host: HOST,
    'x-stowage-key': KEY,
    ...(method === 'POST' && { 'content-type': 'application/json', 'content-length': '2' }),
    ...headers,
  };
  const facts: RequestFacts = {
    method,
    url,
    headers: Object.fromEntries(
      Object.entries(all).map(([name, value]) => [
        name,
        value === undefined ? undefined : [value].flat(),
      ]),
    ),
  };
  return checkRequest(facts, 8090, (key) => key === KEY);
}

/** Returns the case of a path that reads something. */
const read = (
  url: string,
  what: string,
  name: string,
  namespace = '',
): [string, string, Headers, object][] => [['GET', url, {}, { do: 'read', what, name, namespace }]];

describe('requests of the page', () => {
  test.each<[string, string, Headers, object]>([
    ['GET', '/', { 'x-stowage-key': undefined }, { do: 'asset', path: '/' }],
    ['GET', '/', { host: 'localhost:8090' }, { do: 'asset', path: '/' }],
    ['GET', '/page.mjs', { 'sec-fetch-site': 'same-origin' }, { do: 'asset', path: '/page.mjs' }],
    ['GET', '/page.css', {}, { do: 'asset', path: '/page.css' }],
    ['GET', '/icon.svg', {}, { do: 'asset', path: '/icon.svg' }],
    ['POST', '/api/session', { 'x-stowage-key': undefined }, { do: 'session' }],
    ['POST', '/api/session', { origin: `http://${HOST}` }, { do: 'session' }],
    ['POST', '/api/token', { 'content-type': 'application/json; charset=utf-8' }, { do: 'token' }],
    ['GET', '/api/feed', { 'sec-fetch-site': 'none' }, { do: 'feed' }],
    ['GET', '/api/blocked', { 'content-length': '0' }, { do: 'blocked' }],
    ...(['plan', 'run', 'choices', 'rights'] as const).map(
      (call): [string, string, Headers, object] => [
        'POST',
        `/api/${call}`,
        { origin: `http://${HOST}` },
        { do: 'action', call },
      ],
    ),
    ['GET', '/api/volumes/data1.x-2', {}, { do: 'volume', name: 'data1.x-2' }],
    ...read('/api/claims/db/data-0.x', 'claim', 'data-0.x', 'db'),
    ...read('/api/snapshots/db/nightly', 'snapshot', 'nightly', 'db'),
    ...read('/api/nodes/n1.example', 'node', 'n1.example'),
    ...read('/api/nodes/n1/check', 'check', 'n1'),
    ...read('/api/nodes/check/check', 'check', 'check'),
    ...read('/api/nodes/n1/devices', 'devices', 'n1'),
    ...read('/api/volumes/data1/usage', 'usage', 'data1'),
    ...read('/api/grants', 'grants', ''),
    ...read('/api/populators', 'populators', ''),
    // The file of --open, or a link in another page: the page itself has no data.
    [
      'GET',
      '/',
      {
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      },
      { do: 'asset', path: '/' },
    ],
  ])('%s %s with %j is served', (method, url, headers, route) => {
    expect(check(method, url, headers)).toEqual({ route });
  });
});

describe('other requests', () => {
  const cross = (mode: string, dest: string, site = 'cross-site'): Headers => ({
    'sec-fetch-site': site,
    'sec-fetch-mode': mode,
    'sec-fetch-dest': dest,
  });

  test.each<[string, string, Headers, number, string]>([
    // Another name that resolves to this machine (DNS rebinding), another port, no name.
    ['GET', '/', { host: 'evil.example:8090' }, 403, 'wrong-host'],
    ['GET', '/', { host: '127.0.0.1' }, 403, 'wrong-host'],
    ['GET', '/', { host: '127.0.0.1:80901' }, 403, 'wrong-host'],
    ['GET', '/', { host: '127.0.0.1.evil.example:8090' }, 403, 'wrong-host'],
    ['GET', '/', { host: '[::1]:8090' }, 403, 'wrong-host'],
    ['GET', '/', { host: undefined }, 403, 'wrong-host'],
    ['GET', '/', { host: [HOST, HOST] }, 403, 'wrong-host'],
    ['GET', '/api/feed', { origin: 'http://127.0.0.1:8091' }, 403, 'wrong-origin'],
    ['GET', '/api/feed', { origin: 'http://localhost:8090' }, 403, 'wrong-origin'],
    ['GET', '/api/feed', { origin: `https://${HOST}` }, 403, 'wrong-origin'],
    ['GET', '/api/feed', { origin: 'null' }, 403, 'wrong-origin'],
    ['POST', '/api/session', { origin: 'https://evil.example' }, 403, 'wrong-origin'],
    ['GET', '/api/feed', { 'sec-fetch-site': 'same-site' }, 403, 'cross-site'],
    ['GET', '/api/feed', { 'sec-fetch-site': 'cross-site' }, 403, 'cross-site'],
    ['GET', '/api/feed', cross('navigate', 'document'), 403, 'cross-site'],
    ['GET', '/page.mjs', cross('no-cors', 'script', 'same-site'), 403, 'cross-site'],
    ['GET', '/', cross('navigate', 'iframe'), 403, 'cross-site'],
    ['GET', '/', cross('cors', 'document'), 403, 'cross-site'],
    ['GET', '/api/feed', { 'x-stowage-key': undefined }, 401, 'no-key'],
    ['GET', '/api/feed', { 'x-stowage-key': 'other' }, 401, 'no-key'],
    ['GET', '/api/feed', { 'x-stowage-key': [KEY, KEY] }, 401, 'no-key'],
    ['GET', '/api/blocked', { 'x-stowage-key': '' }, 401, 'no-key'],
    ['GET', '/api/volumes/data1', { 'x-stowage-key': undefined }, 401, 'no-key'],
    ['POST', '/api/token', { 'x-stowage-key': undefined }, 401, 'no-key'],
    // An action needs the origin, which browsers always send.
    ['POST', '/api/run', {}, 403, 'wrong-origin'],
    ['POST', '/api/plan', {}, 403, 'wrong-origin'],
    ['POST', '/api/choices', {}, 403, 'wrong-origin'],
    ['POST', '/api/run', { origin: 'http://127.0.0.1:8091' }, 403, 'wrong-origin'],
    ['POST', '/api/run', { origin: [`http://${HOST}`, 'null'] }, 403, 'wrong-origin'],
    ['POST', '/api/run', { ...OWN, 'x-stowage-key': undefined }, 401, 'no-key'],
    ['POST', '/api/plan', { ...OWN, 'x-stowage-key': 'other' }, 401, 'no-key'],
    ['POST', '/api/run', { ...OWN, 'content-length': '4097' }, 413, 'too-large'],
    ['POST', '/api/run', { ...OWN, 'content-type': 'text/plain' }, 415, 'wrong-content'],
    ['GET', '/api/run', OWN, 405, 'wrong-method'],
    ['POST', '/', {}, 405, 'wrong-method'],
    ['HEAD', '/', {}, 405, 'wrong-method'],
    ['OPTIONS', '/api/feed', {}, 405, 'wrong-method'],
    ['GET', '/api/session', {}, 405, 'wrong-method'],
    ['DELETE', '/api/volumes/data1', {}, 405, 'wrong-method'],
    ['GET', '/..', {}, 404, 'not-found'],
    ['GET', '/../main.mjs', {}, 404, 'not-found'],
    ['GET', '/%2e%2e/main.mjs', {}, 404, 'not-found'],
    ['GET', '/page.mjs/../../main.mjs', {}, 404, 'not-found'],
    ['GET', '//page.mjs', {}, 404, 'not-found'],
    ['GET', '/?x', {}, 404, 'not-found'],
    ['GET', `http://${HOST}/`, {}, 404, 'not-found'],
    ['GET', '/constructor', {}, 404, 'not-found'],
    ['GET', '/api/volumes/', {}, 404, 'not-found'],
    ['GET', '/api/volumes/-o', {}, 404, 'not-found'],
    ['GET', '/api/volumes/a/b', {}, 404, 'not-found'],
    ['GET', '/api/volumes/a%2fb', {}, 404, 'not-found'],
    ['GET', '/api/volumes/A', {}, 404, 'not-found'],
    ['GET', '/api/volumes/a?watch', {}, 404, 'not-found'],
    ['GET', `/api/volumes/${'a'.repeat(254)}`, {}, 404, 'not-found'],
    ['GET', '/api/nodes/n1/check', { 'x-stowage-key': undefined }, 401, 'no-key'],
    ['GET', '/api/nodes/n1/check', { 'sec-fetch-site': 'cross-site' }, 403, 'cross-site'],
    ['GET', '/api/grants', { 'x-stowage-key': 'other' }, 401, 'no-key'],
    ['POST', '/api/nodes/n1/check', {}, 405, 'wrong-method'],
    ['DELETE', '/api/claims/db/data-0', {}, 405, 'wrong-method'],
    ['GET', '/api/claims', {}, 404, 'not-found'],
    ['GET', '/api/claims/data-0', {}, 404, 'not-found'],
    ['GET', '/api/claims/db/', {}, 404, 'not-found'],
    ['GET', '/api/claims//data-0', {}, 404, 'not-found'],
    ['GET', '/api/claims/db/data-0/', {}, 404, 'not-found'],
    ['GET', '/api/claims/db/data-0/x', {}, 404, 'not-found'],
    ['GET', '/api/claims/d.b/data-0', {}, 404, 'not-found'],
    ['GET', `/api/claims/${'a'.repeat(64)}/data-0`, {}, 404, 'not-found'],
    ['GET', '/api/claims/db/--all', {}, 404, 'not-found'],
    ['GET', '/api/claims/-A/data-0', {}, 404, 'not-found'],
    ['GET', '/api/claims/../data-0', {}, 404, 'not-found'],
    ['GET', '/api/claims/db/data%2d0', {}, 404, 'not-found'],
    ['GET', '/api/snapshots/db/a?x', {}, 404, 'not-found'],
    ['GET', '/api/nodes', {}, 404, 'not-found'],
    ['GET', '/api/nodes/-o', {}, 404, 'not-found'],
    ['GET', '/api/nodes/n{1..4}', {}, 404, 'not-found'],
    ['GET', '/api/nodes/n1,n2/check', {}, 404, 'not-found'],
    ['GET', '/api/nodes/N1/check', {}, 404, 'not-found'],
    ['GET', '/api/nodes/n1/reboot', {}, 404, 'not-found'],
    ['GET', `/api/nodes/${'a'.repeat(254)}/devices`, {}, 404, 'not-found'],
    ['GET', '/api/volumes/-w/usage', {}, 404, 'not-found'],
    ['GET', '/api/grants/', {}, 404, 'not-found'],
    ['GET', '/api/constructor', {}, 404, 'not-found'],
    ['POST', '/api/session', { 'content-type': 'text/plain' }, 415, 'wrong-content'],
    [
      'POST',
      '/api/session',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'wrong-content',
    ],
    ['POST', '/api/session', { 'content-type': undefined }, 415, 'wrong-content'],
    ['POST', '/api/session', { 'content-length': undefined }, 411, 'wrong-content'],
    ['POST', '/api/session', { 'transfer-encoding': 'chunked' }, 411, 'wrong-content'],
    ['POST', '/api/session', { 'content-length': '-1' }, 411, 'wrong-content'],
    ['POST', '/api/session', { 'content-length': '4097' }, 413, 'too-large'],
    ['GET', '/api/feed', { 'content-length': '1' }, 400, 'wrong-content'],
    ['GET', '/api/feed', { 'transfer-encoding': 'chunked' }, 400, 'wrong-content'],
  ])('%s %s with %j is refused with %d %s', (method, url, headers, status, code) => {
    const checked = check(method, url, headers);
    expect(checked).toMatchObject({ refusal: { status, code } });
    // Nothing of the request is echoed.
    const { error } = (checked as { refusal: { error: string } }).refusal;
    expect(error).not.toMatch(/evil|main|constructor|8091/);
  });
});
