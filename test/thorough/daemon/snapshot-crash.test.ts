import { expect, test } from '@jest/globals';
import { EVENTS, PERSISTENT_VOLUME_CLAIMS, VOLUME_SNAPSHOTS } from '../../../src/api/resources.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { snapshotCluster } from '../../support/snapshot-cluster.ts';
import { until } from '../../support/until.ts';

const cluster = snapshotCluster();

/**
 * Returns the client of a process that dies with its `at`-th write, which reaches the server or
 * does not. `died` reports the death.
 */
function dying(real: KubeClient, at: number, reaches: boolean) {
  const { promise: died, resolve } = Promise.withResolvers<void>();
  let writes = 0;
  let isDead = false;
  const mortal = async <T>(write: () => Promise<T>): Promise<T> => {
    writes += 1;
    if (isDead || writes === at) {
      if (!isDead && reaches) await write();
      isDead = true;
      resolve();
      throw new Error('this process is dead');
    }
    return write();
  };
  const client: KubeClient = {
    ...real,
    create: (resource, object, options) =>
      resource === EVENTS
        ? real.create(resource, object, options)
        : mortal(() => real.create(resource, object, options)),
    patch: (resource, name, patch, options) =>
      resource === EVENTS
        ? real.patch(resource, name, patch, options)
        : mortal(() => real.patch(resource, name, patch, options)),
    delete: (resource, name, options) => mortal(() => real.delete(resource, name, options)),
  };
  return { client, died, isDead: () => isDead };
}

/**
 * Runs an action in a series of processes, each of which dies one write later, until one survives.
 */
async function live(
  asked: () => Promise<unknown>,
  isDone: () => Promise<unknown>,
  reaches: boolean,
): Promise<number> {
  for (let at = 1; ; at++) {
    const process = dying(cluster.client, at, reaches);
    cluster.start({ client: process.client });
    if (at === 1) await asked();
    const done = isDone();
    done.catch(() => {});
    await Promise.race([process.died, done]);
    await cluster.stop();
    if (!process.isDead()) return at;
    // Bounds the loop: each process makes one more write than the process before.
    expect(at).toBeLessThan(30);
  }
}

test.each([
  ['before', false],
  ['after', true],
])(
  'a snapshot is taken and deleted exactly once if processes die right %s their writes',
  async (_, reaches) => {
    await cluster.createClass('fast');
    await cluster.createData('data');
    const taking = await live(
      () => cluster.createSnapshot('backup', 'data', 'fast'),
      async () => {
        await cluster.isReady('backup');
        await cluster.isKept('data', false);
      },
      reaches,
    );
    expect(taking).toBeGreaterThan(2);
    expect(await cluster.contents()).toHaveLength(1);
    expect(cluster.nodes.taken).toHaveLength(1);

    const deleting = await live(
      () => cluster.remove(VOLUME_SNAPSHOTS, 'backup'),
      async () => {
        await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
        await until('no content is left', async () =>
          (await cluster.contents()).length === 0 ? true : undefined,
        );
      },
      reaches,
    );
    expect(deleting).toBeGreaterThan(2);
    expect([...cluster.nodes.copies]).toEqual([]);
    expect(cluster.nodes.removed).toHaveLength(1);
    await cluster.remove(PERSISTENT_VOLUME_CLAIMS, 'data');
    await cluster.isGone(PERSISTENT_VOLUME_CLAIMS, 'data');
  },
);
