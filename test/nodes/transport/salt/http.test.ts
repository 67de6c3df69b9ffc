import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createSaltHttp } from '../../../../src/nodes/transport/salt/http.ts';
import { json } from '../../../support/fake-api.ts';
import { CERTIFICATE, CHAINED, INTERMEDIATE } from '../../../support/tls.ts';

let server: Server;

beforeAll(async () => {
  server = createServer(
    { key: CHAINED.key, cert: CHAINED.cert + INTERMEDIATE },
    (_request, response) => json(response, { return: [] }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(
  () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
);

async function send(ca: string | undefined): Promise<unknown> {
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http = createSaltHttp(url, ca);
  try {
    const { signal } = new AbortController();
    return await http.send({ method: 'GET', path: '/', timeoutMs: 5000, signal });
  } finally {
    await http.close();
  }
}

test('trusts an intermediate CA without its root', async () => {
  await expect(send(INTERMEDIATE)).resolves.toEqual({ return: [] });
});

test.each([
  ['no CA', undefined],
  ['another CA', CERTIFICATE],
])('refuses it with %s', async (_, ca) => {
  await expect(send(ca)).rejects.toMatchObject({
    name: 'SaltUnreachable',
    message: expect.stringContaining('certificate'),
  });
});
