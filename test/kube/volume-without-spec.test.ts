import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CRDS } from '../../src/api/crds.ts';
import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { run } from '../../src/cli/run.ts';
import { connect } from '../../src/kube/connect.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { NodeError } from '../../src/nodes/errors.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { sparseVolume } from '../support/cluster.ts';
import { startController, type TestController } from '../support/controller.ts';
import { fakeExecutor } from '../support/fake-executor.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

/** The CRDs without requirements on the object as a whole, as in MetalK8s' CRD. */
const LAX = CRDS.map((crd) => {
  const copy = JSON.parse(JSON.stringify(crd));
  for (const { schema } of copy.spec.versions) {
    delete schema.openAPIV3Schema.required;
    delete schema.openAPIV3Schema['x-kubernetes-validations'];
  }
  return copy;
});

const away = new NodeError('unreachable', 'n1', 'node n1 is away');

let client: KubeClient;
let controller: TestController;
let kubeconfig = '';
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const sandbox = await startSandbox({ crds: LAX });
  const folder = await temporaryDirectory('no-spec');
  kubeconfig = join(folder.path, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig);
  ({ client } = await connect({ kubeconfig }));
  controller = await startController(client);
  cleanUps.push(controller.stop, sandbox.stop, folder.remove);
  const { spec: _, ...noSpec } = sparseVolume('nospec', 'n1', '1Gi');
  await client.create(VOLUMES, noSpec);
  await client.create(VOLUMES, sparseVolume('other', 'n1', '1Gi'));
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

async function stowage(...argv: string[]) {
  const { io, outcome } = fakeIo({
    executor: fakeExecutor({ n1: away }),
    clock: systemClock as never,
  });
  const code = await run([...argv, '--kubeconfig', kubeconfig], { ...io, connect });
  return { ...outcome, code };
}

const phaseOf = async (name: string) => (await client.get<Volume>(VOLUMES, name)).status?.phase;

test('a Volume without a spec is Failed with a message, and others are reconciled', async () => {
  await until('nospec is Failed', async () =>
    (await phaseOf('nospec')) === 'Failed' ? true : undefined,
  );
  const { status } = await client.get<Volume>(VOLUMES, 'nospec');
  expect(status?.conditions?.[0]?.message).toContain('the Volume has no spec');
  await until('other is worked on', async () => ((await phaseOf('other')) ? true : undefined));
  expect(controller.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test.each([
  ['get', 'volumes'],
  ['get', 'volumes', '--sort-by', 'node', '--node', 'n1'],
  ['get', 'volumes', '-o', 'yaml'],
  ['describe', 'volume', 'nospec'],
  ['why', 'volume', 'nospec'],
])('%s %s works with a Volume without a spec', async (...argv) => {
  const { code, err } = await stowage(...argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

test('a Volume without a spec adds no node to the list', async () => {
  const { code, out } = await stowage('get', 'nodes', '-o', 'name');
  expect({ code, out }).toEqual({ code: 0, out: 'node/n1\n' });
});

test('a Volume without a spec can be deleted', async () => {
  const { code, err } = await stowage('delete', 'volume', 'nospec', '--wait');
  expect({ code, err: err.includes('TypeError') }).toEqual({ code: 0, err: false });
});
