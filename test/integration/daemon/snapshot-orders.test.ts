import { describe, expect, test } from '@jest/globals';
import {
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import { orders } from '../../support/orders.ts';
import { snapshotCluster } from '../../support/snapshot-cluster.ts';
import { until } from '../../support/until.ts';

const cluster = snapshotCluster();

describe('any order of operations', () => {
  const [letters] = ['abcdefghijklmnopqrstuvwxyz'];
  const named = (order: number) => `${letters[order % 26]}${order}`;

  test('creating class, snapshot, claim and Volume takes one snapshot', async () => {
    cluster.start();
    const all = orders(['class', 'snapshot', 'claim', 'volume']);
    expect(all).toHaveLength(24);
    await Promise.all(
      all.map(async (order, index) => {
        const name = named(index);
        const done = new Set<string>();
        for (const what of order) {
          done.add(what);
          if (what === 'class') await cluster.createClass(name);
          if (what === 'snapshot') await cluster.createSnapshot(name, name, name);
          if (what === 'claim') await cluster.createClaim(name);
          if (what === 'volume') await cluster.createVolume(name);
          if (done.has('claim') && done.has('volume') && (what === 'claim' || what === 'volume')) {
            await cluster.createPv(name);
          }
        }
        await cluster.isReady(name);
      }),
    );
    expect(await cluster.contents()).toHaveLength(24);
    expect(cluster.nodes.taken).toHaveLength(24);
  });

  test('deleting class, snapshot, claim and Volume leaves nothing', async () => {
    cluster.start();
    const all = orders(['class', 'snapshot', 'claim', 'volume']);
    await Promise.all(
      all.map(async (order, index) => {
        const name = named(index);
        await cluster.createClass(name);
        await cluster.createData(name);
        await cluster.createSnapshot(name, name, name);
        // Snapshots that are not ready yet are tested, too.
        if (index % 2 === 0) await cluster.isReady(name);
        for (const what of order) {
          if (what === 'class') await cluster.remove(VOLUME_SNAPSHOT_CLASSES, name);
          if (what === 'snapshot') await cluster.remove(VOLUME_SNAPSHOTS, name);
          if (what === 'claim') await cluster.remove(PERSISTENT_VOLUME_CLAIMS, name);
          // Its PersistentVolume is deleted with its owner.
          if (what === 'volume') await cluster.remove(VOLUMES, name);
        }
        for (const kind of [VOLUME_SNAPSHOTS, PERSISTENT_VOLUME_CLAIMS, VOLUMES])
          await cluster.isGone(kind, name);
      }),
    );
    await until('no content is left', async () =>
      (await cluster.contents()).length === 0 ? true : undefined,
    );
    expect([...cluster.nodes.copies]).toEqual([]);
  });
});
