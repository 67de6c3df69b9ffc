import { describe, expect, test } from '@jest/globals';
import { VOLUME_SNAPSHOTS, VOLUMES } from '../../../src/api/resources.ts';
import { contentOf } from '../../support/cluster-snapshots.ts';
import { snapshotCluster } from '../../support/snapshot-cluster.ts';
import { until } from '../../support/until.ts';

const cluster = snapshotCluster();

/** Nominal size of the volume. */
const SIZE = 2n ** 30n;
const NONE = 'node n1 has 0 bytes available in …, and the snapshot needs 1Gi';

/** Waits until each snapshot is ready or has an error. @returns the snapshots by readiness */
const settled = (count: number) =>
  until('each snapshot is ready or has an error', async () => {
    const { items } = await cluster.client.list<{
      apiVersion: string;
      kind: string;
      metadata: { name: string };
      status?: { readyToUse?: boolean; error?: { message: string } };
    }>(VOLUME_SNAPSHOTS, {});
    const done = items.filter(({ status }) => status?.readyToUse || status?.error !== undefined);
    if (done.length < count) return undefined;
    return {
      ready: done.filter(({ status }) => status?.readyToUse).map(({ metadata }) => metadata.name),
      waiting: done
        .filter(({ status }) => !status?.readyToUse)
        .map(({ metadata }) => metadata.name),
      messages: done.flatMap(({ status }) => (status?.readyToUse ? [] : [status?.error?.message])),
    };
  });

describe('snapshots with space for only one', () => {
  test('do not reserve the same space, and continue after a deletion', async () => {
    cluster.room.freeBytes = SIZE;
    await cluster.createData('data');
    await cluster.createClass('fast');
    for (let nth = 0; nth < 4; nth++) await cluster.createSnapshot(`s${nth}`, 'data', 'fast');
    cluster.start();
    const { ready, waiting, messages } = await settled(4);
    expect(ready).toHaveLength(1);
    expect(messages).toEqual(Array(3).fill(`Failed to create snapshot: ${NONE}`));
    expect(cluster.nodes.taken).toHaveLength(1);

    await cluster.remove(VOLUME_SNAPSHOTS, ready[0] ?? '');
    await cluster.isGone(VOLUME_SNAPSHOTS, ready[0] ?? '');
    await until('a second snapshot is taken', async () =>
      cluster.nodes.taken.length === 2 ? true : undefined,
    );
    expect(cluster.nodes.copies.size).toBe(1);
    expect(waiting).toHaveLength(3);
  });

  test('leave the space to one with a running job, also after a restart', async () => {
    cluster.room.freeBytes = SIZE;
    cluster.start();
    const go = cluster.nodes.hold();
    const first = await cluster.ask();
    await cluster.untilAsked('take n1');
    await cluster.stop();
    cluster.start();
    await cluster.createSnapshot('another', 'data', 'fast');
    await cluster.says('another', NONE);
    go();
    await cluster.isReady('backup');
    expect(cluster.nodes.taken).toHaveLength(1);
    expect((await cluster.content(contentOf(first)))?.status?.readyToUse).toBe(true);
  });

  test('are taken once a Volume on their node is deleted', async () => {
    cluster.room.freeBytes = 0n;
    await cluster.createVolume('old');
    cluster.start();
    await cluster.ask();
    await cluster.says('backup', NONE);
    cluster.room.freeBytes = SIZE;
    await cluster.client.delete(VOLUMES, 'old');
    await cluster.isReady('backup');
  });
});
