import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { PersistentVolume, PersistentVolumeClaim } from '../../src/api/core.ts';
import { ALL_CRDS } from '../../src/api/crds.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../src/api/snapshot.ts';
import type { Volume } from '../../src/api/volume.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import { leftovers } from '../support/leftovers.ts';
import { type OwnFileSystem, ownFileSystem } from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Service, startService } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const namespace = 'default';
describeAsRoot.each([['xfs'], ['ext4']] as ['xfs' | 'ext4'][])(
  'snapshots of volumes whose files are on %s',
  (type) => {
    let cluster: TestCluster;
    let disk: OwnFileSystem;
    let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
    let service: Service;
    let stopUdev: () => Promise<void>;
    let mount: string;
    let uid: string;

    beforeAll(async () => {
      stopUdev = await ensureUdev();
      disk = await ownFileSystem(type);
      folder = await temporaryDirectory('snapshot');
      mount = join(folder.path, 'mnt');
      await mkdir(mount);
      cluster = await startCluster({ crds: ALL_CRDS, nodes: ['n1'] });
      const flags = ['--transport', 'local', '--local-node', 'n1', '--leader-election=false'];
      service = startService(cluster.kubeconfig, flags, folder.path);
      const { client } = cluster;
      for (const [name, parameters] of [
        ['clones', {}],
        ['copies', { frozenCopySeconds: '60' }],
      ] as const) {
        await client.create<VolumeSnapshotClass>(VOLUME_SNAPSHOT_CLASSES, {
          apiVersion: 'snapshot.storage.k8s.io/v1',
          kind: 'VolumeSnapshotClass',
          metadata: { name },
          driver: 'volume.stowage.dev',
          deletionPolicy: 'Delete',
          parameters,
        });
      }
      const wanted = sparseVolume('data', 'n1', '64Mi');
      const sparseLoopDevice = { size: '64Mi', directory: disk.path };
      await client.create<Volume>(VOLUMES, {
        ...wanted,
        spec: { ...wanted.spec, sparseLoopDevice },
      });
      const volume = await until('the Volume is Available', async () => {
        const found = await client.get<Volume>(VOLUMES, 'data');
        return found.status?.phase === 'Available' ? found : undefined;
      });
      uid = volume.metadata.uid ?? '';
      const claim = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'claim', namespace },
        spec: {
          volumeName: 'data',
          storageClassName: 'local',
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Mi' } },
        },
      } as PersistentVolumeClaim;
      const { metadata } = await client.create(PERSISTENT_VOLUME_CLAIMS, claim);
      await until('the claim is bound', async () => {
        const pv = await client.get<PersistentVolume>(PERSISTENT_VOLUMES, 'data');
        return pv.spec.claimRef?.uid === metadata.uid ? true : undefined;
      });
      await execa('mount', [`/dev/${volume.status?.deviceName}`, mount]);
      await writeFile(join(mount, 'written'), 'before');
      await execa('sync', ['-f', mount]);
    });

    afterAll(async () => {
      const { client } = cluster;
      await execa('umount', [mount], { reject: false });
      await client.delete(PERSISTENT_VOLUME_CLAIMS, 'claim', { namespace });
      await client.delete(VOLUMES, 'data');
      await until('the Volume is gone', () => goneOf(VOLUMES, 'data'));
      expect(await service.stop()).toBe(0);
      expect(await leftovers({ uids: [uid], client })).toEqual([]);
      await cluster.stop();
      await disk.remove();
      await folder.remove();
      await stopUdev();
    });

    const goneOf = (resource: typeof VOLUMES, name: string): Promise<true | undefined> =>
      cluster.client.get(resource, name, { namespace }).then(
        () => undefined,
        (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
      );

    const create = (name: string, volumeSnapshotClassName: string): Promise<VolumeSnapshot> =>
      cluster.client.create<VolumeSnapshot>(VOLUME_SNAPSHOTS, {
        apiVersion: 'snapshot.storage.k8s.io/v1',
        kind: 'VolumeSnapshot',
        metadata: { name, namespace },
        spec: { source: { persistentVolumeClaimName: 'claim' }, volumeSnapshotClassName },
      });
    const statusOf = async (name: string) =>
      (await cluster.client.get<VolumeSnapshot>(VOLUME_SNAPSHOTS, name, { namespace })).status;
    const isReady = (name: string) =>
      until(`${name} is ready`, async () =>
        (await statusOf(name))?.readyToUse ? true : undefined,
      );

    /** Returns the copy, and its content. */
    async function copyOf(snapshot: VolumeSnapshot) {
      const name = `snapcontent-${snapshot.metadata.uid}`;
      const content = await cluster.client.get<VolumeSnapshotContent>(
        VOLUME_SNAPSHOT_CONTENTS,
        name,
      );
      const path = `${disk.path}/snapshots/${content.metadata.uid}`;
      expect(content.status).toMatchObject({
        snapshotHandle: `file:n1:${path}`,
        restoreSize: 64 << 20,
        readyToUse: true,
      });
      const { stdout } = await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', path]);
      expect(stdout).toBe(content.metadata.uid);
      const there = join(folder.path, snapshot.metadata.name);
      await mkdir(there);
      await execa('mount', ['-o', 'ro,loop', path, there]);
      const text = await readFile(join(there, 'written'), 'utf8');
      await execa('umount', [there]);
      return { path, text };
    }

    async function remove(name: string, path: string): Promise<void> {
      await cluster.client.delete(VOLUME_SNAPSHOTS, name, { namespace });
      await until(`${name} is gone`, () => goneOf(VOLUME_SNAPSHOTS, name));
      expect((await execa('ls', ['-A', join(path, '..')])).stdout).toBe('');
      expect((await cluster.client.list(VOLUME_SNAPSHOT_CONTENTS, {})).items).toEqual([]);
    }

    test('a mounted volume is copied as its class allows', async () => {
      const snapshot = await create('first', type === 'xfs' ? 'clones' : 'copies');
      await isReady('first');
      await writeFile(join(mount, 'written'), 'after');
      const { path, text } = await copyOf(snapshot);
      expect(text).toBe('before');
      await remove('first', path);
    });

    test('a volume that cannot be cloned is snapshotted once it is unmounted', async () => {
      const snapshot = await create('second', 'clones');
      if (type === 'ext4') {
        await until('the snapshot reports the error', async () =>
          (await statusOf('second'))?.error?.message?.includes('cannot clone files')
            ? true
            : undefined,
        );
        expect((await statusOf('second'))?.readyToUse).toBe(false);
        await execa('umount', [mount]);
      }
      await isReady('second');
      const { path, text } = await copyOf(snapshot);
      expect(text).toBe('after');
      await remove('second', path);
    });
  },
);
