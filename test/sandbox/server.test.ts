import { createConnection } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { type Client, clientFor } from '../api-server/client.ts';
import { DISK_CRD } from '../api-server/disk-crd.ts';
import { disk } from '../api-server/disks.ts';

const NOW = new Date('2026-01-02T03:04:05.678Z');
const DISKS = '/apis/example.com/v1/disks';

let sandbox: Sandbox;
let client: Client;
beforeAll(async () => {
  sandbox = await startSandbox({ crds: [DISK_CRD], now: () => NOW });
  client = clientFor(sandbox);
});
afterAll(async () => {
  await client.close();
  await sandbox.stop();
});

describe('access to the server', () => {
  test.each([
    ['another Host', { host: 'evil.example' }, 403],
    ['no Host port', { host: '127.0.0.1' }, 403],
    ['the correct headers', {}, 200],
  ])('depends on the Host header: %s', async (_, headers, code) => {
    for (const path of ['/version', '/readyz', '/api/v1/nodes'])
      expect(
        (await client.request('GET', path, undefined, headers as Record<string, string>)).code,
      ).toBe(code);
  });

  test('requires TLS', async () => {
    const socket = createConnection(Number(new URL(sandbox.url).port), '127.0.0.1');
    socket.write('GET /version HTTP/1.1\r\nHost: x\r\n\r\n');
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).not.toContain('gitVersion');
  });
});

test('/openapi/v2 returns the gnostic Document that old kubectl validates with', async () => {
  const { body, headers } = await client.request('GET', '/openapi/v2');
  expect(headers['content-type']).toContain('spec.v2.v1.0+protobuf');
  expect(body).toBe(
    '\n\x032.0\x12\x1b\n\x10Stowage sandbox\x12\x07v1.32.0B\x00'.replace(
      '\x1b\n\x10',
      '\x1a\n\x0f',
    ),
  );
});

test('timestamps come from the clock that is passed in', async () => {
  const { body } = await client.request('POST', DISKS, disk('a'));
  expect(body.metadata.creationTimestamp).toBe('2026-01-02T03:04:05Z');
});

test('a continue token of an expired version returns 410', async () => {
  const token = Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"a"}').toString('base64url');
  const answer = await client.request('GET', `${DISKS}?continue=${token}`);
  expect(answer).toMatchObject({ code: 410, body: { reason: 'Expired' } });
});

test('a watch that times out ends with a bookmark', async () => {
  const { body } = await client.request('GET', DISKS);
  const version = body.metadata.resourceVersion;
  const seen = [];
  for await (const { type, object } of client.watch(
    `${DISKS}?watch=1&resourceVersion=${version}&timeoutSeconds=1&allowWatchBookmarks=true`,
  ))
    seen.push([type, object]);
  expect(seen).toEqual([
    [
      'BOOKMARK',
      { kind: 'Disk', apiVersion: 'example.com/v1', metadata: { resourceVersion: version } },
    ],
  ]);
});

test('watches end when the server stops', async () => {
  const brief = await startSandbox({ crds: [DISK_CRD] });
  const watcher = clientFor(brief);
  const events = watcher.watch(`${DISKS}?watch=1`);
  const ended = events.next().catch(() => 'ended');
  await watcher.request('GET', DISKS);
  await brief.stop();
  expect(await ended).toBe('ended');
  await watcher.close();
});
