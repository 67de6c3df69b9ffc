import { describe, expect, test } from '@jest/globals';
import { VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS } from '../../../src/api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import { NAMESPACE } from '../../support/cluster-snapshots.ts';
import { snapshotCluster } from '../../support/snapshot-cluster.ts';

const cluster = snapshotCluster();

describe('a manually created content', () => {
  const UID = '7f8f7c35-5bb2-4f6a-9b53-0d51a0c9a102';
  const path = `/data/snapshots/${UID}`;
  const byHand = (handle = `file:n1:${path}`): VolumeSnapshotContent => ({
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    metadata: { name: 'by-hand' },
    spec: {
      volumeSnapshotRef: { namespace: NAMESPACE, name: 'backup' },
      deletionPolicy: 'Delete',
      driver: 'volume.stowage.dev',
      source: { snapshotHandle: handle },
    },
  });
  const asks: VolumeSnapshot = {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshot',
    metadata: { name: 'backup', namespace: NAMESPACE },
    spec: { source: { volumeSnapshotContentName: 'by-hand' } },
  };

  test('is bound to its snapshot, and deleted with it', async () => {
    cluster.start();
    await cluster.client.create(VOLUME_SNAPSHOTS, asks);
    await cluster.says('backup', 'VolumeSnapshotContent by-hand is missing');
    cluster.nodes.copies.add(path);
    await cluster.client.create(VOLUME_SNAPSHOT_CONTENTS, byHand());
    const { metadata, status } = await cluster.isReady('backup');
    expect(status).toMatchObject({ boundVolumeSnapshotContentName: 'by-hand', restoreSize: '1Gi' });
    expect((await cluster.content('by-hand'))?.spec.volumeSnapshotRef.uid).toBe(metadata.uid);
    expect(cluster.nodes.taken).toEqual([]);
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    expect(await cluster.contents()).toEqual([]);
    expect(cluster.nodes.removed).toEqual([path]);
  });

  test('keeps a copy that another content shares until that content is deleted', async () => {
    cluster.nodes.copies.add(path);
    cluster.start();
    const imported = byHand();
    await cluster.client.create(VOLUME_SNAPSHOT_CONTENTS, {
      ...imported,
      metadata: { name: 'kept' },
      spec: { ...imported.spec, volumeSnapshotRef: { namespace: 'other', name: 'earlier' } },
    } as VolumeSnapshotContent);
    await cluster.client.create(VOLUME_SNAPSHOT_CONTENTS, imported);
    await cluster.client.create(VOLUME_SNAPSHOTS, asks);
    await cluster.isReady('backup');
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    expect((await cluster.contents()).map(({ metadata }) => metadata.name)).toEqual(['kept']);
    expect(cluster.nodes.removed).toEqual([]);
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, 'kept');
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, 'kept');
    expect(cluster.nodes.removed).toEqual([path]);
  });

  test.each([
    [
      'without a copy',
      `file:n1:${path}`,
      `copy file:n1:${path} is missing on node n1, and is not taken again. Bring the copy back, or delete the VolumeSnapshot`,
    ],
    [
      'with an invalid handle',
      'file:n1:/etc/shadow',
      'snapshot handle "file:n1:/etc/shadow": the path must end in …',
    ],
  ])('%s is not ready', async (_, handle, message) => {
    cluster.start();
    await cluster.client.create(VOLUME_SNAPSHOT_CONTENTS, byHand(handle));
    await cluster.client.create(VOLUME_SNAPSHOTS, asks);
    await cluster.says('backup', message);
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    expect(await cluster.contents()).toEqual([]);
  });
});
