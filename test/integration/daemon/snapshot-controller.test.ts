import { describe, expect, test } from '@jest/globals';
import { CRDS, STANDARD_CRDS } from '../../../src/api/crds.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import { parseHandle } from '../../../src/api/snapshot-handle.ts';
import { contentOf, NAMESPACE } from '../../support/cluster-snapshots.ts';
import { snapshotCluster, startSnapshotCluster } from '../../support/snapshot-cluster.ts';
import { BOUND, OF_CLAIM, OF_CONTENT } from '../../support/snapshot-objects.ts';
import { until } from '../../support/until.ts';

const cluster = snapshotCluster();

describe('a snapshot of a claim', () => {
  test('is created, reported as ready, and not written again after a restart', async () => {
    const began = Date.now();
    cluster.start();
    const snapshot = await cluster.take();
    const content = (await cluster.content(contentOf(snapshot))) as VolumeSnapshotContent;
    const [path] = cluster.nodes.taken;
    expect(content.spec).toMatchObject({
      deletionPolicy: 'Delete',
      driver: 'volume.stowage.dev',
      source: { volumeHandle: 'data' },
      volumeSnapshotClassName: 'fast',
      sourceVolumeMode: 'Filesystem',
      volumeSnapshotRef: { namespace: NAMESPACE, name: 'backup', uid: snapshot.metadata.uid },
    });
    expect(content.metadata.finalizers).toEqual([OF_CONTENT]);
    expect(path).toBe(`/var/lib/metalk8s/storage/sparse/snapshots/${content.metadata.uid}`);
    expect(parseHandle(content.status?.snapshotHandle ?? '')).toEqual({
      type: 'file',
      nodes: ['n1'],
      path,
    });
    expect(snapshot.status).toMatchObject({
      boundVolumeSnapshotContentName: content.metadata.name,
      restoreSize: '1Gi',
    });
    const taken = Date.parse(snapshot.status?.creationTime ?? '');
    // The creation time has whole seconds.
    expect(taken).toBeGreaterThanOrEqual(began - 1000);
    expect(taken).toBeLessThanOrEqual(Date.now());
    expect(snapshot.metadata.finalizers).toEqual([BOUND]);
    await cluster.isKept('data', false);
    expect(cluster.nodes.freezes).toEqual([{ seconds: 10, copy: false }]);
    expect(cluster.operations).toEqual([
      { operation: 'create', snapshotClass: 'fast', succeeded: true, ms: expect.any(Number) },
    ]);

    const { writes, nodes } = cluster;
    const [written, asked] = [writes.length, nodes.asked.length];
    // After a restart, the controller writes nothing and sends no request to a node.
    await cluster.stop();
    cluster.start();
    await cluster.createSnapshot('another', 'data', 'fast');
    await cluster.isReady('another');
    expect(writes.slice(written).filter((write) => write.endsWith(' backup'))).toEqual([]);
    expect(writes.slice(written).filter((write) => write.endsWith(contentOf(snapshot)))).toEqual(
      [],
    );
    expect(nodes.asked.slice(asked)).toEqual(['take n1']);
  });

  test('protects its claim from deletion until it is taken', async () => {
    cluster.start();
    const go = cluster.nodes.hold();
    await cluster.ask();
    await cluster.untilAsked('take n1');
    await cluster.remove(PERSISTENT_VOLUME_CLAIMS, 'data');
    expect((await cluster.claim('data'))?.metadata.finalizers).toContain(OF_CLAIM);
    go();
    await cluster.isReady('backup');
    await cluster.isGone(PERSISTENT_VOLUME_CLAIMS, 'data');
  });

  test('without a class gets the default one', async () => {
    cluster.start();
    await cluster.createData('data');
    await cluster.createSnapshot('backup', 'data');
    await cluster.says('backup', 'cannot find default snapshot class');
    await cluster.createClass('slow');
    await cluster.createClass('fast', { isDefault: true });
    expect((await cluster.isReady('backup')).spec.volumeSnapshotClassName).toBe('fast');
  });

  test('is retried with another job after a failure, with one event', async () => {
    cluster.nodes.failures.push('no room', 'no room');
    cluster.start();
    const snapshot = await cluster.take();
    const content = (await cluster.content(contentOf(snapshot))) as VolumeSnapshotContent;
    expect(
      JSON.parse(content.metadata.annotations?.['stowage.dev/snapshot-job'] ?? ''),
    ).toMatchObject({
      attempt: 3,
      tries: 3,
    });
    expect(snapshot.status?.error).toBeUndefined();
    expect(cluster.nodes.taken).toHaveLength(1);
    const failures = await until('the event is emitted', async () => {
      const found = (await cluster.events(content.metadata.name)).filter(
        ({ reason }) => reason === 'SnapshotCreationFailed',
      );
      return found.length > 0 ? found : undefined;
    });
    expect(failures.map(({ message, count }) => [message, count])).toEqual([
      ['Failed to create snapshot: no room', 1],
    ]);
    expect(cluster.operations.map(({ succeeded }) => succeeded)).toEqual([false, false, true]);
  });

  test('waits for an unreachable node, and continues when the Node is back', async () => {
    cluster.nodes.away.add('n1');
    cluster.start();
    await cluster.ask();
    await cluster.says('backup', 'waiting for a node: node n1 is away');
    cluster.nodes.away.clear();
    const conditions = [{ type: 'Ready', status: 'False' }];
    await cluster.client.patch(NODES, 'n1', { status: { conditions } }, { subresource: 'status' });
    await cluster.isReady('backup');
  });

  test('reports a missing copy, and is not taken again', async () => {
    cluster.start();
    const snapshot = await cluster.take();
    await cluster.stop();
    cluster.nodes.copies.clear();
    const name = contentOf(snapshot);
    await cluster.client.patch(
      VOLUME_SNAPSHOT_CONTENTS,
      name,
      { status: { readyToUse: false } },
      { subresource: 'status' },
    );
    cluster.start();
    const { status } = await cluster.says('backup', 'is missing on node n1');
    expect(status?.readyToUse).toBe(false);
    await cluster.remove(VOLUME_SNAPSHOT_CLASSES, 'fast');
    expect(cluster.nodes.taken).toHaveLength(1);
  });

  test('reports missing content, and gets no replacement', async () => {
    cluster.start();
    const snapshot = await cluster.take();
    const name = contentOf(snapshot);
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, name);
    await cluster.client.patch(VOLUME_SNAPSHOT_CONTENTS, name, { metadata: { finalizers: [] } });
    const { status } = await cluster.says('backup', `VolumeSnapshotContent ${name} is missing`);
    expect(status?.readyToUse).toBe(false);
    expect(await cluster.contents()).toEqual([]);
  });

  test('is not taken from a recreated Volume of the same name', async () => {
    await cluster.createClass('fast');
    await cluster.createData('data');
    cluster.nodes.away.add('n1');
    cluster.start();
    await cluster.createSnapshot('backup', 'data', 'fast');
    await cluster.says('backup', 'n1 is away');
    await cluster.remove(VOLUMES, 'data');
    cluster.nodes.away.clear();
    await cluster.createVolume('data');
    await cluster.says(
      'backup',
      'Volume data does not exist, or is not the source of the snapshot',
    );
    expect(cluster.nodes.taken).toEqual([]);
  });
});

test('the daemon serves snapshots once their CRDs are installed', async () => {
  await cluster.end();
  Object.assign(cluster, await startSnapshotCluster({ crds: CRDS }));
  cluster.start();
  await until('daemon waiting', async () => cluster.lines().find(({ level }) => level === 'info'));
  for (const crd of STANDARD_CRDS['snapshot-crds']) {
    await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, crd as unknown as KubeObject);
  }
  await cluster.createData('data');
  await cluster.createClass('fast');
  await cluster.createSnapshot('backup', 'data', 'fast');
  await until(
    'the snapshot is ready',
    async () => (await cluster.snapshot('backup'))?.status?.readyToUse || undefined,
  );
  expect(cluster.lines().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
});
