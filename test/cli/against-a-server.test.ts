import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { run } from '../../src/cli/run.ts';
import { connect } from '../../src/kube/connect.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { fakeIo, type World } from '../support/fake-io.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

/** Runs a command with a server, instead of objects in memory. */
async function stowage(argv: string[], world: World = {}) {
  const { io, outcome } = fakeIo(world);
  const code = await run([...argv, '--kubeconfig', cluster.kubeconfig], { ...io, connect });
  return { ...outcome, code };
}

test('version finds no skew in the CRDs that a server stores', async () => {
  const { code, out, err } = await stowage(['version', '-o', 'json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const { server, crds } = JSON.parse(out);
  expect(server).toMatchObject({
    url: expect.stringMatching(/^https/),
    version: expect.stringMatching(/^v1\./),
  });
  expect(crds.map(({ skew }: { skew: string }) => skew)).toEqual(['none', 'none', 'none']);
});

test('a selector that the server cannot parse is wrong usage', async () => {
  const { code, err } = await stowage(['get', 'volumes', '-l', 'a in b', '-o', 'json']);
  expect(code).toBe(2);
  expect(JSON.parse(err)).toMatchObject({
    code: 'usage',
    message: expect.stringContaining('unable to parse'),
  });
});

test('a NotFound error names the object', async () => {
  const { code, err } = await stowage(['get', 'volume', 'nowhere', '-o', 'json']);
  expect(code).toBe(3);
  expect(JSON.parse(err)).toMatchObject({
    reason: 'NotFound',
    object: { kind: 'Volume', name: 'nowhere' },
  });
});
