import { describe, expect, test } from '@jest/globals';
import {
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import { contentOf } from '../../support/cluster-snapshots.ts';
import { snapshotCluster } from '../../support/snapshot-cluster.ts';
import { AS_SOURCE, BOUND } from '../../support/snapshot-objects.ts';
import { until } from '../../support/until.ts';

const cluster = snapshotCluster();

describe('snapshot deletion', () => {
  test('removes the content and the copy', async () => {
    cluster.start();
    await cluster.take();
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    expect(await cluster.contents()).toEqual([]);
    expect(cluster.nodes.removed).toEqual(cluster.nodes.taken);
    expect(cluster.operations.at(-1)).toMatchObject({ operation: 'delete', succeeded: true });
  });

  test('keeps the content and the copy with the policy Retain', async () => {
    cluster.start();
    const snapshot = await cluster.take('backup', 'Retain');
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    expect((await cluster.content(contentOf(snapshot)))?.status?.readyToUse).toBe(true);
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, contentOf(snapshot));
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, contentOf(snapshot));
    expect([...cluster.nodes.copies]).toEqual(cluster.nodes.taken);
  });

  test('removes an unfinished copy, also with the policy Retain', async () => {
    cluster.nodes.failures.push(...Array<string>(9).fill('no room'));
    cluster.start();
    await cluster.ask('backup', 'Retain');
    await cluster.says('backup', 'Failed to create snapshot: no room');
    const name = (await cluster.contents())[0]?.metadata.name ?? '';
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, name);
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, name);
    expect(cluster.nodes.asked.slice(-2)).toEqual(['look n1', 'remove n1']);
  });

  test('a deleted content waits for the deletion of its snapshot', async () => {
    cluster.start();
    const name = contentOf(await cluster.take());
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, name);
    await until('the event is emitted', async () =>
      (await cluster.events(name)).find(({ reason }) => reason === 'SnapshotDeletePending'),
    );
    expect(cluster.nodes.removed).toEqual([]);
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, name);
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
  });

  test('waits for an unreachable node, and reports it', async () => {
    cluster.start();
    await cluster.take();
    cluster.nodes.away.add('n1');
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.says('backup', 'waiting for a node: node n1 is away');
    await cluster.stop();
    cluster.nodes.away.clear();
    cluster.start();
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    expect(cluster.nodes.copies.size).toBe(0);
  });

  test.each(['Delete', 'Retain'] as const)(
    'waits until a Volume is restored from the snapshot (%s)',
    async (policy) => {
      cluster.start();
      const snapshot = await cluster.take('backup', policy);
      await cluster.createVolume('restored', {
        source: { snapshotContentName: contentOf(snapshot) },
      });
      await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
      await cluster.says('backup', 'Snapshot is being used to restore Volume restored');
      expect(cluster.nodes.removed).toEqual([]);
      await cluster.makeVolume('restored');
      await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
      expect(cluster.nodes.copies.size).toBe(policy === 'Delete' ? 0 : 1);
    },
  );

  test('a finalizer marks the snapshot as a source until the restore ends', async () => {
    cluster.start();
    const snapshot = await cluster.take();
    const holds = (wanted: string[]) =>
      until(
        `the snapshot has finalizers ${wanted}`,
        async () =>
          String((await cluster.snapshot('backup'))?.metadata.finalizers) === String(wanted) ||
          undefined,
      );
    await cluster.createVolume('restored', {
      source: { snapshotContentName: contentOf(snapshot) },
    });
    await holds([BOUND, AS_SOURCE]);
    await cluster.makeVolume('restored');
    await holds([BOUND]);
    // A canceled restore does not hold the snapshot, even if it began in another process.
    await cluster.createVolume('given-up', {
      source: { snapshotContentName: contentOf(snapshot) },
    });
    await holds([BOUND, AS_SOURCE]);
    await cluster.stop();
    await cluster.remove(VOLUMES, 'given-up');
    cluster.start();
    await holds([BOUND]);
  });

  test.each(['builtin', 'external'] as const)(
    'a deleted claim waits until its clone is provisioned (%s)',
    async (flag) => {
      await cluster.createData('data');
      await cluster.createVolume('clone', { source: { volumeName: 'data' } });
      cluster.start({ flag });
      await cluster.isKept('data', true);
      await cluster.remove(PERSISTENT_VOLUME_CLAIMS, 'data');
      expect((await cluster.claim('data'))?.metadata.deletionTimestamp).toBeDefined();
      await cluster.makeVolume('clone');
      await cluster.isGone(PERSISTENT_VOLUME_CLAIMS, 'data');
    },
  );

  test('a content waits for its restores beside the standard controller', async () => {
    cluster.start({ flag: 'external' });
    const name = contentOf(await cluster.ask());
    await cluster.keep('backup');
    await cluster.isTaken(name);
    await cluster.createVolume('restored', { source: { snapshotContentName: name } });
    await cluster.letGo('backup');
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, name);
    await until('the event is emitted', async () =>
      (await cluster.events(name)).find(
        ({ message }) => message === 'Volume restored is being provisioned from the content',
      ),
    );
    expect(cluster.nodes.removed).toEqual([]);
    await cluster.remove(VOLUMES, 'restored');
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, name);
    expect(cluster.nodes.copies.size).toBe(0);
  });

  test('the source finalizer is removed if the content no longer exists', async () => {
    cluster.start();
    const snapshot = await cluster.take();
    await cluster.stop();
    const finalizers = [BOUND, AS_SOURCE];
    await cluster.patchSnapshot('backup', { metadata: { finalizers } });
    await cluster.client.patch(VOLUME_SNAPSHOT_CONTENTS, contentOf(snapshot), {
      metadata: { finalizers: [] },
    });
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, contentOf(snapshot));
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    cluster.start();
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
  });
});
