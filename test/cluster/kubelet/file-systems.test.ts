import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import { type OwnFileSystem, ownFileSystem } from '../../support/loop-mounts.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { NAMESPACE, podsOf, reading, writing } from './pods.ts';
import { type Scene, startScene, type ThisMachine } from './scene.ts';

/** Timeout in ms: pods are slow on a busy machine. */
jest.setTimeout(240_000);

describeAsRoot('a source whose file system differs from that of the storage class', () => {
  let disk: OwnFileSystem;
  let scene: Scene<ThisMachine>;
  let pods: ReturnType<typeof podsOf>;

  beforeAll(async () => {
    disk = await ownFileSystem('xfs', 4n << 30n);
    scene = await startScene({ components: ['snapshot-crds'] });
    pods = podsOf(scene.client);
    for (const fsType of ['ext4', 'xfs']) {
      await scene.client.create<StorageClass>(STORAGE_CLASSES, {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: fsType },
        provisioner: 'volume.stowage.dev',
        parameters: { directory: join(disk.path, 'volumes'), fsType },
        volumeBindingMode: 'Immediate',
      });
    }
    await scene.client.create(VOLUME_SNAPSHOT_CLASSES, {
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
  });

  /** Creates a claim, and returns the PersistentVolume that it is bound to. */
  async function bound(
    name: string,
    storageClassName: string,
    dataSource?: object,
  ): Promise<PersistentVolume> {
    await scene.client.create(PERSISTENT_VOLUME_CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: NAMESPACE },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName,
        resources: { requests: { storage: '304Mi' } },
        ...(dataSource === undefined ? {} : { dataSource }),
      },
    } as PersistentVolumeClaim);
    const volumeName = await until(`${name} is bound`, async () => {
      const options = { namespace: NAMESPACE };
      const claim = await scene.client.get<PersistentVolumeClaim>(
        PERSISTENT_VOLUME_CLAIMS,
        name,
        options,
      );
      return claim.status?.phase === 'Bound' ? claim.spec.volumeName : undefined;
    });
    return scene.client.get<PersistentVolume>(PERSISTENT_VOLUMES, volumeName);
  }

  test.each([
    ['ext4', 'xfs'],
    ['xfs', 'ext4'],
  ])('a clone or restore of an %s keeps its file system with a class of %s', async (of, wanted) => {
    const word = randomUUID();
    const name = `of-${of}`;
    const mounted = (claim: string) => ({ claim, mode: 'Filesystem' }) as const;
    expect((await bound(name, of)).spec.local?.fsType).toBe(of);
    await pods.run(`writes-${of}`, [mounted(name)], writing(mounted(name), word));
    const taken = await scene.stowage(
      'create',
      'snapshot',
      name,
      '--pvc',
      name,
      '-n',
      NAMESPACE,
      '--wait',
    );
    expect([taken.exitCode, taken.stderr]).toEqual([0, expect.any(String)]);
    const sources = {
      clone: { kind: 'PersistentVolumeClaim', name },
      restore: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name },
    };
    for (const [how, source] of Object.entries(sources)) {
      const claim = `${how}-${of}`;
      expect((await bound(claim, wanted, source)).spec.local?.fsType).toBe(of);
      expect((await pods.run(claim, [mounted(claim)], reading(mounted(claim)))).trimEnd()).toBe(
        word,
      );
      await scene.client.delete(PERSISTENT_VOLUME_CLAIMS, claim, { namespace: NAMESPACE });
    }
    await scene.client.delete(VOLUME_SNAPSHOTS, name, { namespace: NAMESPACE });
    await scene.client.delete(PERSISTENT_VOLUME_CLAIMS, name, { namespace: NAMESPACE });
    await until('no Volume and no file is left', async () => {
      const { items } = await scene.client.list(VOLUMES);
      const files = await readdir(join(disk.path, 'volumes'), { recursive: true });
      return items.length === 0 && files.every((file) => file === 'snapshots') ? true : undefined;
    });
  });
});
