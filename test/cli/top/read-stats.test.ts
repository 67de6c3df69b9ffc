import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { readStats } from '../../../src/cli/top/read-stats.ts';
import { createTransport } from '../../../src/kube/transport.ts';
import { fakeApi, json, status } from '../../support/fake-api.ts';
import { podStats, summaryOf, summaryPath } from '../../support/stats-summary.ts';
import { CLAIM } from './top-scene.ts';

/** Answers a request with a body that never ends, until the client leaves. */
function endless(response: ServerResponse, code: number): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(1 << 20, '[');
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write);
  write();
}

async function reading(answer: (response: ServerResponse) => void) {
  const api = await fakeApi((_, response) => answer(response));
  const transport = createTransport({
    server: api.url,
    authenticate: async () => ({ headers: {}, tls: {} }),
    userAgent: 'stowage/test',
    requestTimeoutMs: 60_000,
  });
  try {
    const found = await readStats(transport, 'n1', new AbortController().signal);
    expect(api.seen[0]).toMatchObject({ method: 'GET', url: summaryPath('n1') });
    return found;
  } finally {
    await api.close();
  }
}

test('figures are read through the API server', async () => {
  const found = await reading((response) => json(response, summaryOf(podStats('u', CLAIM))));
  expect(found).toMatchObject({ stats: [{}, { usedBytes: 250 }] });
});

test.each<[string, (response: ServerResponse) => void, RegExp]>([
  ['an endless summary', (response) => endless(response, 200), /exceeds 8388608 bytes/],
  ['an endless error', (response) => endless(response, 500), /exceeds 8388608 bytes/],
  ['no JSON', (response) => response.end('<html>'), /the kubelet of node n1 is not read/],
  ['a text', (response) => response.end('"x"'), /is not a JSON object/],
  [
    'a refusal of the API server',
    (response) => json(response, status(403, 'Forbidden'), 403),
    /^this takes the right to get nodes\/proxy, which you lack for node n1$/,
  ],
  [
    'an API server without a kubelet',
    (response) => json(response, status(404, 'NotFound', 'the server could not find it'), 404),
    /^the kubelet of node n1 is not read: the server could not find it$/,
  ],
])('a kubelet has no figures if it answers with %s', async (_name, answer, why) => {
  expect(await reading(answer)).toEqual({ why: expect.stringMatching(why) });
});
