import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect } from '../../src/kube/connect.ts';
import { createTransport } from '../../src/kube/transport.ts';
import { json, WIDGETS, widget } from '../support/fake-api.ts';
import { CERTIFICATE, KEY } from '../support/tls.ts';

let server: Server;
let folder: string;
/** Names in the certificates that clients presented. */
let clients: (string | undefined)[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stowage-tls-'));
  writeFileSync(join(folder, 'client.crt'), CERTIFICATE);
  writeFileSync(join(folder, 'client.key'), KEY);
  server = createServer(
    { cert: CERTIFICATE, key: KEY, ca: CERTIFICATE, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const subject = (request.socket as TLSSocket).getPeerCertificate().subject as
        | { CN?: string }
        | undefined;
      clients.push(subject?.CN);
      json(response, widget('a', 1));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
});

const address = () => `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function get(cluster: object, user: object) {
  clients = [];
  const path = join(folder, 'config');
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: address(), ...cluster } }],
      users: [{ name: 'c', user }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
      'current-context': 'c',
    }),
  );
  const { client } = await connect({ kubeconfig: path });
  await client.get(WIDGETS, 'a');
  return clients;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const trusted = {
  'certificate-authority-data': base64(CERTIFICATE),
  'tls-server-name': 'api.test',
};

test.each([
  ['by data', { 'client-certificate-data': base64(CERTIFICATE), 'client-key-data': base64(KEY) }],
  [
    'by files beside the kubeconfig',
    { 'client-certificate': 'client.crt', 'client-key': 'client.key' },
  ],
])('trusts the CA of the cluster, and presents the client certificate (%s)', async (_, user) => {
  expect(await get(trusted, user)).toEqual(['test']);
});

test('presents a new client certificate from the next request on', async () => {
  clients = [];
  const ca = { ca: CERTIFICATE, servername: 'api.test' };
  const shown = [ca, ca, { ...ca, cert: CERTIFICATE, key: KEY }];
  const transport = createTransport({
    server: address(),
    authenticate: async () => ({ headers: {}, tls: shown.shift() ?? ca }),
    userAgent: 'test',
    requestTimeoutMs: 5000,
  });
  for (const _ of [1, 2, 3]) await transport.send({ method: 'GET', path: '/' });
  expect(clients).toEqual([undefined, undefined, 'test']);
});

test('refuses a server certificate of an unknown CA', async () => {
  await expect(get({ 'tls-server-name': 'api.test' }, {})).rejects.toMatchObject({
    name: 'ConnectionError',
    message: expect.stringContaining('self-signed certificate'),
  });
});

test('refuses a server certificate for another name', async () => {
  await expect(get({ ...trusted, 'tls-server-name': 'other.test' }, {})).rejects.toThrow(
    /other\.test/,
  );
});

test('insecure-skip-tls-verify skips the check of the certificate', async () => {
  expect(await get({ 'insecure-skip-tls-verify': true }, {})).toEqual([undefined]);
});
