import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from '../../src/kube/connect.ts';
import { createTransport } from '../../src/kube/transport.ts';
import { json, WIDGETS, widget } from '../support/fake-api.ts';
import { CERTIFICATE, CHAINED, INTERMEDIATE, KEY } from '../support/tls.ts';

let server: Server;
/** Server whose certificate an intermediate CA signed. */
let chained: Server;
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
  chained = createServer(
    { key: CHAINED.key, cert: CHAINED.cert + INTERMEDIATE },
    (_request, response) => json(response, widget('a', 1)),
  );
  for (const each of [server, chained]) {
    await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve));
  }
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  for (const each of [server, chained]) {
    await new Promise<void>((resolve) => {
      each.close(() => resolve());
      each.closeAllConnections();
    });
  }
});

const address = (of = server) => `https://127.0.0.1:${(of.address() as AddressInfo).port}`;

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

describe('an intermediate CA without its root', () => {
  test('is trusted as the CA of the cluster, as by kubectl', async () => {
    const ca = { 'certificate-authority-data': base64(INTERMEDIATE), server: address(chained) };
    await expect(get(ca, {})).resolves.toEqual([]);
  });

  test.each<[string, string | undefined]>([
    ['not configured', undefined],
    ['another one', CERTIFICATE],
  ])('is not trusted if the CA is %s', async (_, ca) => {
    const data = ca === undefined ? {} : { 'certificate-authority-data': base64(ca) };
    await expect(get({ ...data, server: address(chained) }, {})).rejects.toThrow(/certificate/);
  });
});
