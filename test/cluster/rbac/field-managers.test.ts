import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import { VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { run } from '../../../src/cli/run.ts';
import { setStatus } from '../../../src/controllers/volume/status.ts';
import { createVolumeWrites } from '../../../src/controllers/volume/volume-writes.ts';
import { type Connection, connect } from '../../../src/kube/connect.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { type Client, clientFor } from '../../api-server/client.ts';
import { sparseVolume } from '../../support/cluster.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';

const PATH = '/apis/storage.metalk8s.scality.com/v1alpha1/volumes';
/** Field manager of Flux. */
const FLUX = 'kustomize-controller';

interface Managed extends KubeObject {
  metadata: KubeObject['metadata'] & {
    managedFields: { manager: string; operation: string; subresource?: string; fieldsV1: object }[];
  };
}

let controlPlane: ControlPlane;
let requests: Client;
let connection: Connection;

beforeAll(async () => {
  controlPlane = await startControlPlane({ controllers: [] });
  const { kubeconfig, url } = controlPlane;
  requests = clientFor({ url, kubeconfig: await readFile(kubeconfig, 'utf8') });
  connection = await connect({ kubeconfig });
  const { io } = fakeIo();
  const argv = ['install', '--components', 'crds', '--kubeconfig', kubeconfig];
  expect(await run(argv, { ...io, clock: systemClock, connect })).toBe(0);
}, 600_000);
afterAll(async () => {
  await requests?.close();
  await controlPlane?.stop();
});

const manifest = sparseVolume('applied', 'n1', '32Mi');
/** Applies the manifest as Flux does. */
const apply = () =>
  requests.request('PATCH', `${PATH}/applied?fieldManager=${FLUX}&force=true`, manifest, {
    'content-type': 'application/apply-patch+yaml',
  });

test('a Volume that another manager applies keeps our fields, and the manager keeps its own', async () => {
  expect((await apply()).code).toBe(201);
  const { client } = connection;
  const read = () => client.get<Volume>(VOLUMES, 'applied');
  const objects = createVolumeWrites({ client, volumes: { recordWrite() {} } } as never);
  await objects.protect(await read());
  const failed = { status: 'False', reason: 'CreationError', message: 'the disk is used' } as const;
  const volume = await read();
  const action = setStatus(volume, Date.now(), 'Failed', failed);
  if (action?.do !== 'set-status') throw new Error('no status');
  await objects.writeStatus(volume, action.status);
  const written = await read();

  expect((await apply()).code).toBe(200);
  const applied = (await client.get<Volume>(VOLUMES, 'applied')) as Volume & Managed;
  // The same object: nothing of it was changed.
  expect(applied.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  expect(applied.metadata.finalizers).toEqual(written.metadata.finalizers);
  expect(applied.status).toMatchObject({ phase: 'Failed', observedGeneration: 1 });
  expect(applied.status?.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Stalled']);
  const fieldsOf = (manager: string) =>
    applied.metadata.managedFields
      .filter((each) => each.manager === manager)
      .flatMap(({ fieldsV1 }) => Object.keys(fieldsV1));
  expect(fieldsOf(FLUX)).toContain('f:spec');
  expect(fieldsOf(FLUX)).not.toContain('f:status');
  expect(fieldsOf('stowage').sort()).toEqual(['f:metadata', 'f:status']);
});
