import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BACKUPS, type Backup } from '../../../src/api/builtins/backup.ts';
import { ALL_CRDS } from '../../../src/api/crds.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, VOLUME_SNAPSHOTS } from '../../../src/api/resources.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import { createNode } from '../../support/claim-objects.ts';
import { type ClaimsCluster, startClaimsCluster } from '../../support/claims-cluster.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { until } from '../../support/until.ts';

/** Conditions that Backups wait for, with a daemon whose nodes never respond. */

const SNAPSHOTS = ['VolumeSnapshot', 'VolumeSnapshotContent', 'VolumeSnapshotClass'];
const PROD = { namespace: 'prod' };

let cluster: ClaimsCluster;
let controller: TestController;
beforeAll(async () => {
  cluster = await startClaimsCluster({ without: SNAPSHOTS });
  await createNode(cluster.client, 'n1');
  controller = await startController(cluster.client, {
    provisioning: { snapshotController: 'builtin' },
    retry: { startMs: 100, maxMs: 500 },
  });
});
afterAll(async () => {
  await controller?.stop();
  await cluster?.stop();
});

const read = (name: string) => cluster.client.get<Backup>(BACKUPS, name, PROD);
const says = (name: string, message: string) =>
  until(`${name} reports ${message}`, async () => {
    const { status } = await read(name);
    return status?.message?.includes(message) ? status : undefined;
  });
const create = async (name: string) => {
  const line = `create backup prod/${name} --pvc data --to https://a.example.com/b`;
  expect(await cluster.stowage(line.split(' '))).toMatchObject({ code: 0 });
};

test('a Backup reports missing snapshot CRDs, and continues once they are installed', async () => {
  await create('early');
  expect(await says('early', 'stowage install --components snapshot-crds')).toMatchObject({
    phase: 'Pending',
  });
  for (const crd of ALL_CRDS.filter(({ spec }) => SNAPSHOTS.includes(spec.names.kind))) {
    await cluster.client.create<KubeObject>(
      CUSTOM_RESOURCE_DEFINITIONS,
      crd as unknown as KubeObject,
    );
  }
  await until('a snapshot is created for the Backup', async () => {
    const { items } = await cluster.client.list<KubeObject>(VOLUME_SNAPSHOTS, PROD);
    return items.length > 0 || undefined;
  });
});

test('a deleted Backup waits for its unreachable node until forget-node is set', async () => {
  await create('late');
  await until(
    'the Backup has a finalizer',
    async () => (await read('late')).metadata.finalizers?.length || undefined,
  );
  await cluster.client.patch(
    BACKUPS,
    'late',
    { status: { phase: 'Completed', node: 'n1', attempt: 1 } },
    { ...PROD, subresource: 'status' },
  );
  await cluster.client.delete(BACKUPS, 'late', PROD);
  const { message } = await says('late', 'node n1 does not answer');
  expect(message).toContain(`stowage.dev/forget-node=${(await read('late')).metadata.uid}`);
  const annotations = { 'stowage.dev/forget-node': (await read('late')).metadata.uid };
  await cluster.client.patch(BACKUPS, 'late', { metadata: { annotations } }, PROD);
  await until('the Backup is gone', () =>
    read('late').then(
      () => undefined,
      (error: unknown) => isNotFound(error) || undefined,
    ),
  );
  expect(controller.lines.filter(({ level }) => level === 'error')).toEqual([]);
});
