import { randomUUID } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execa } from 'execa';
import type {
  KubeEvent,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  EVENTS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import { NAMESPACES } from '../../../src/cli/install/kinds.ts';
import { type OwnFileSystem, ownFileSystem } from '../../support/loop-mounts.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { NAMESPACE, podsOf, reading, writing } from './pods.ts';
import { type Scene, startScene, type ThisMachine } from './scene.ts';

/** Pods take their time on a busy machine, in ms. */
jest.setTimeout(240_000);
const WITHIN = 90_000;

describeAsRoot('claims of dynamic classes, with a real scheduler and a real kubelet', () => {
  let disk: OwnFileSystem;
  let scene: Scene<ThisMachine>;
  let pods: ReturnType<typeof podsOf>;

  beforeAll(async () => {
    disk = await ownFileSystem('xfs', 4n << 30n);
    const gate = '--feature-gates=CrossNamespaceVolumeDataSource=true';
    scene = await startScene({
      apiServerFlags: [gate],
      components: ['snapshot-crds', 'referencegrant-crd', 'populator-crds'],
      watchFlags: [gate],
    });
    pods = podsOf(scene.client, WITHIN);
    const { client } = scene;
    await client.create<KubeObject>(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'prod' },
    });
    for (const volumeBindingMode of ['WaitForFirstConsumer', 'Immediate']) {
      await client.create<StorageClass>(STORAGE_CLASSES, {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: volumeBindingMode.toLowerCase() },
        provisioner: 'volume.stowage.dev',
        parameters: { directory: join(disk.path, 'volumes'), fsType: 'xfs' },
        volumeBindingMode,
        allowVolumeExpansion: true,
      });
    }
    await client.create(VOLUME_SNAPSHOT_CLASSES, {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshotClass',
      metadata: {
        name: 'files',
        annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' },
      },
      driver: 'volume.stowage.dev',
      deletionPolicy: 'Delete',
    } as KubeObject);
  }, 600_000);
  afterAll(async () => {
    await scene?.stop();
    await disk?.remove();
  }, 120_000);

  const claim = (name: string, spec: object = {}, namespace = NAMESPACE) =>
    scene.client.create(
      PERSISTENT_VOLUME_CLAIMS,
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name, namespace },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'waitforfirstconsumer',
          resources: { requests: { storage: '304Mi' } },
          ...spec,
        },
      } as PersistentVolumeClaim,
      { namespace },
    );
  const remove = (name: string, namespace = NAMESPACE) =>
    scene.client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace });
  const claimNow = (name: string, namespace = NAMESPACE) =>
    scene.client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, { namespace });
  const nothingIsLeft = () =>
    until('no Volume and no file is left', WITHIN, async () => {
      const { items } = await scene.client.list(VOLUMES);
      const files = await readdir(join(disk.path, 'volumes'), { recursive: true });
      return items.length === 0 && files.every((file) => file === 'snapshots') ? true : undefined;
    });
  const isTold = (name: string, text: string) =>
    until(`${name} is told: ${text}`, WITHIN, async () => {
      const { items } = await scene.client.list<KubeEvent>(EVENTS, { namespace: NAMESPACE });
      const ours = items.filter(({ involvedObject }) => involvedObject.name === name);
      return ours.some(({ message = '' }) => message.includes(text)) ? true : undefined;
    });

  test('a pod brings a volume about, which grows, and goes with the claim', async () => {
    const word = randomUUID();
    const mounted = { claim: 'data', mode: 'Filesystem' } as const;
    await claim('data');
    await pods.run('writes', [mounted], writing(mounted, word));
    const more = { spec: { resources: { requests: { storage: '400Mi' } } } };
    await scene.client.patch(PERSISTENT_VOLUME_CLAIMS, 'data', more, { namespace: NAMESPACE });
    await until('it has grown', WITHIN, async () => {
      const { status } = await claimNow('data');
      return status?.capacity?.storage !== undefined && /^(419430400|400Mi)$/.test(status.capacity.storage)
        ? true
        : undefined;
    });
    expect((await pods.run('reads', [mounted], reading(mounted))).trimEnd()).toBe(word);
    await remove('data');
    await nothingIsLeft();
  });

  test('the scheduler knows how much room there is, and the pod waits with that reason', async () => {
    await claim('large', { resources: { requests: { storage: '100Gi' } } });
    const mounted = { claim: 'large', mode: 'Filesystem' } as const;
    await pods.create('waits', [mounted], 'sleep infinity');
    await isTold('waits', 'did not have enough free storage');
    expect((await scene.client.list(VOLUMES)).items).toEqual([]);
    await pods.remove('waits');
    await remove('large');
  });

  test("a pod reads a snapshot of another namespace's claim, once that is granted", async () => {
    const word = randomUUID();
    await claim('foo', { storageClassName: 'immediate' }, 'prod');
    const volumeName = await until('prod/foo is bound', WITHIN, async () => {
      const { status, spec } = await claimNow('foo', 'prod');
      return status?.phase === 'Bound' ? spec.volumeName : undefined;
    });
    const pv = await scene.client.get<PersistentVolume>(PERSISTENT_VOLUMES, volumeName);
    const path = join(disk.path, 'mnt');
    await mkdir(path);
    await execa('mount', [pv.spec.local?.path ?? '', path]);
    try {
      await writeFile(join(path, 'word'), `${word}\n`);
      const argv = ['create', 'snapshot', 'foo-backup', '--pvc', 'foo', '-n', 'prod', '--wait'];
      const { exitCode, stderr } = await scene.stowage(...argv);
      expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
    } finally {
      await execa('umount', [path]);
    }
    const dataSourceRef = {
      apiGroup: 'snapshot.storage.k8s.io',
      kind: 'VolumeSnapshot',
      name: 'foo-backup',
      namespace: 'prod',
    };
    await claim('foo-testing', { storageClassName: 'immediate', dataSourceRef });
    await isTold('foo-testing', "isn't allowed");
    await scene.stowage('grant', 'snapshot', 'prod/foo-backup', '--to', NAMESPACE);
    const granted = Date.now();
    await until('it is bound', WITHIN, async () =>
      (await claimNow('foo-testing')).status?.phase === 'Bound' ? true : undefined,
    );
    console.info(`bound ${Date.now() - granted} ms after the grant`);
    const mounted = { claim: 'foo-testing', mode: 'Filesystem' } as const;
    expect((await pods.run('restored', [mounted], reading(mounted))).trimEnd()).toBe(word);
    await remove('foo-testing');
    await scene.client.delete(VOLUME_SNAPSHOTS, 'foo-backup', { namespace: 'prod' });
    await remove('foo', 'prod');
    await nothingIsLeft();
  });
});
