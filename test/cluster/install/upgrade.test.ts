import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import {
  CLUSTER_ROLES,
  CUSTOM_RESOURCE_DEFINITIONS,
  DEPLOYMENTS,
  LEFTOVERS,
  PERSISTENT_VOLUMES,
  VOLUMES,
} from '../../../src/api/resources.ts';
import { VERSION } from '../../../src/api/version.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { connect } from '../../../src/kube/connect.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { until } from '../../support/until.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';

/** Manifests that `install` of the first version applied, as deploy/ had them then. */
const FIRST = 'test/support/first-install';
const DEFINITIONS = [`${FIRST}/volume-crd.yaml`, `${FIRST}/leftover-crd.yaml`];
const CRD = 'volumes.storage.metalk8s.scality.com';

let plane: ControlPlane;
let client: KubeClient;

beforeAll(async () => {
  plane = await startControlPlane({
    controllers: ['garbage-collector-controller', 'namespace-controller'],
  });
  ({ client } = await connect({ kubeconfig: plane.kubeconfig }));
}, 1_200_000);
afterAll(() => plane?.stop());

const env = () => ({ KUBECONFIG: plane.kubeconfig });
const kubectl = (...args: string[]) => execa(plane.kubectl, args, { env: env() });
const stowage = (...args: string[]) => execa('bin/stowage', args, { env: env(), reject: false });
const read = (resource: Resource) => client.list<KubeObject>(resource).then(({ items }) => items);
const all = async () => [
  await read(VOLUMES),
  await read(PERSISTENT_VOLUMES),
  await read(LEFTOVERS),
];

const at = '2026-01-01T00:00:00Z';
const UID = '6e1c2b1f-7a54-4f0a-9c53-2f2d8f0b7e11';

async function made(name: string, spec: Partial<Volume['spec']>): Promise<void> {
  await client.create<Volume>(VOLUMES, {
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    metadata: {
      name,
      finalizers: ['storage.metalk8s.scality.com/volume-protection'],
      labels: { a: 'b' },
    },
    spec: {
      nodeName: 'n1',
      storageClassName: 'local',
      template: {
        metadata: { labels: { x: 'y' } },
        spec: { persistentVolumeReclaimPolicy: 'Retain' },
      },
      ...spec,
    },
  });
  const status = {
    phase: 'Available',
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Available',
        message: 'm',
        lastUpdateTime: at,
        lastTransitionTime: at,
      },
    ],
    job: 'PrepareVolume/DONE',
    deviceName: 'loop3',
    devicePath: `/dev/disk/by-uuid/${UID}`,
    capacity: '1Gi',
    prepared: { node: 'n1', paths: [`/var/lib/metalk8s/storage/sparse/${UID}`], identity: 'ext4' },
    attempt: 3,
    observedGeneration: 1,
  } as const;
  await client.patch<Volume>(VOLUMES, name, { status }, { subresource: 'status' });
}

test('upgrading, downgrading and re-upgrading the CRDs leaves all objects unchanged', async () => {
  for (const file of [...DEFINITIONS, `${FIRST}/daemon.yaml`]) await kubectl('apply', '-f', file);
  await until('the first version of the CRDs is served', () =>
    read(VOLUMES).then(
      () => true,
      () => undefined,
    ),
  );
  await made('sparse', { sparseLoopDevice: { size: '1Gi' }, onDelete: 'Wipe' });
  await made('raw', {
    rawBlockDevice: { devicePath: '/dev/sdb' },
    mode: 'Block',
    overwrite: 'ext4:x',
  });
  await made('lvm', { lvmLogicalVolume: { vgName: 'vg0', size: 1024 } });
  await client.create(LEFTOVERS, {
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Leftover',
    metadata: { name: UID },
    spec: {
      ...{ nodeName: 'n1', volumeName: 'gone', uid: UID, storageClassName: 'local' },
      sparseLoopDevice: { size: '1Gi' },
    },
  } as never);
  const before = await all();
  // Every field of the first version survived: none was dropped.
  expect(before[0]).toMatchObject([
    { metadata: { name: 'lvm' } },
    { metadata: { name: 'raw' } },
    { metadata: { name: 'sparse' } },
  ]);
  expect(before[0]?.[2]).toMatchObject({
    spec: { onDelete: 'Wipe' },
    status: { attempt: 3, prepared: { node: 'n1' } },
  });

  const upgraded = await stowage('install');
  expect([upgraded.exitCode, upgraded.stderr]).toEqual([
    0,
    expect.stringContaining(`${CRD} changed`),
  ]);
  expect(await all()).toEqual(before);
  const role = await client.get<KubeObject & { rules: { resources: string[] }[] }>(
    CLUSTER_ROLES,
    'stowage',
  );
  expect(role.rules.flatMap(({ resources }) => resources)).toContain('volumesnapshotcontents');
  expect(
    await client.get<KubeObject>(DEPLOYMENTS, 'stowage', { namespace: 'stowage' }),
  ).toMatchObject({
    spec: { template: { spec: { containers: [{ image: `stowage:${VERSION}` }] } } },
  });
  expect((await stowage('install')).stderr).not.toMatch(/ (created|changed|removed)$/m);

  // Fields of the current definition, in objects of the first one.
  await client.patch(VOLUMES, 'sparse', { spec: { attachPolicy: 'OnDemand' } });
  const attachments = [
    {
      node: 'n1',
      state: 'Attached',
      safeToMount: true,
      safeToDetach: false,
      pods: ['a/b'],
      since: at,
    },
  ];
  await client.patch(VOLUMES, 'sparse', { status: { attachments } }, { subresource: 'status' });
  const after = await all();
  expect(after[0]?.[2]).toMatchObject({
    spec: { attachPolicy: 'OnDemand' },
    status: { attachments },
  });

  for (const file of DEFINITIONS) await kubectl('replace', '-f', file);
  const back = await until('the first version of the CRDs is served again', async () => {
    const found = await all();
    const sparse = found[0]?.[2] as Volume | undefined;
    return sparse?.status?.attachments === undefined ? found : undefined;
  });
  // Serves all fields of the first version. Fields that it does not know stay in storage.
  expect(back[0]?.[2]).toMatchObject({
    spec: before[0]?.[2] === undefined ? {} : (before[0][2] as Volume).spec,
  });
  expect(back.flat().map(({ metadata }) => [metadata.name, metadata.uid])).toEqual(
    before.flat().map(({ metadata }) => [metadata.name, metadata.uid]),
  );
  const again = await stowage('install');
  expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining(`${CRD} changed`)]);
  await until('the current CRDs are served again', async () =>
    JSON.stringify(await all()) === JSON.stringify(after) ? true : undefined,
  );

  // Uninstall keeps kinds that have objects.
  const refused = await stowage('uninstall', '--yes');
  expect([refused.exitCode, refused.stderr]).toEqual([
    5,
    expect.stringContaining('and 3 Volumes (lvm, raw, sparse)'),
  ]);
  expect((await stowage('uninstall', '--yes', '--components', 'rbac,deployment')).exitCode).toBe(0);
  expect(await all()).toEqual(after);
  expect((await client.get<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS, CRD)).metadata.name).toBe(CRD);
});
