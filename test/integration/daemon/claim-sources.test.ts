import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { SNAPSHOT_FINALIZERS } from '../../../src/api/names.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import type { Volume } from '../../../src/api/volume.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import {
  type ClaimWorld,
  type Key,
  startClaimWorld,
  toSnapshot,
} from '../../support/claim-world.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { type LazyNodes, lazyNodes } from '../../support/lazy-nodes.ts';
import { until } from '../../support/until.ts';

/**
 * Data sources of volumes that are being provisioned: they are not deleted meanwhile, but
 * afterwards.
 */

let world: ClaimWorld;
let nodes: LazyNodes;
let daemon: TestController | undefined;

const start = async (client: KubeClient = world.client) => {
  daemon = await startController(client, {
    executor: nodes,
    provisioning: { crossNamespace: true, snapshotController: 'builtin' },
  });
};
const end = async () => {
  await daemon?.stop();
  daemon = undefined;
};

beforeAll(async () => {
  world = await startClaimWorld();
  nodes = lazyNodes(world.nodes, 'n1', { kubelet: false });
  await start();
  await world.createClass('fast');
  await world.createSnapshotClass('fast');
  await world.createGrant('prod/to-test', 'test');
});
beforeEach(async () => {
  nodes.laziness = 0;
  await nodes.runAll();
});
afterAll(async () => {
  await end();
  await world?.stop();
});

async function data(name: string): Promise<void> {
  await world.createClaim(`prod/${name}`);
  await world.isBound(`prod/${name}`);
  await world.write(`prod/${name}`, `of ${name}`);
}

/** Returns the Volume of the claim. */
const volumeOf = async (key: Key) =>
  world.find<Volume>(VOLUMES, `/pvc-${(await world.claim(key))?.metadata.uid}`);

/** Waits until the Volume's job is recorded. The job does not end on the node. */
async function isBeingMade(key: Key): Promise<void> {
  await until(`${key} is being provisioned`, async () => {
    const volume = await volumeOf(key);
    return volume?.status?.job === 'PrepareVolume/1' ? true : undefined;
  });
}
const finish = async () => {
  nodes.laziness = 0;
  await nodes.runAll();
};
const isGone = (what: string, key: string, resource = VOLUMES) =>
  until(`${what} is gone`, async () =>
    (await world.find(resource, key)) === undefined ? true : undefined,
  );

test('a snapshot deleted during a cross-namespace restore is kept until its end', async () => {
  await data('foo');
  await world.createSnapshot('prod/backup', 'foo');
  await world.isReady('prod/backup');
  nodes.laziness = Infinity;
  await world.createClaim('test/copy', { dataSourceRef: toSnapshot('prod/backup') });
  await isBeingMade('test/copy');
  const snapshot = await world.find<VolumeSnapshot>(VOLUME_SNAPSHOTS, 'prod/backup');
  const content = await world.find<VolumeSnapshotContent>(
    VOLUME_SNAPSHOT_CONTENTS,
    `/${snapshot?.status?.boundVolumeSnapshotContentName}`,
  );
  expect((await volumeOf('test/copy'))?.spec.source).toEqual({
    snapshotContentName: content?.metadata.name,
    uid: content?.metadata.uid,
  });
  await world.remove(VOLUME_SNAPSHOTS, 'prod/backup');
  await until('the snapshot reports why its deletion waits', async () => {
    const snapshot = await world.find<VolumeSnapshot>(VOLUME_SNAPSHOTS, 'prod/backup');
    const { message = '' } = snapshot?.status?.error ?? {};
    return message.startsWith('Snapshot is being used to restore Volume pvc-') ? true : undefined;
  });
  await finish();
  await world.isBound('test/copy');
  expect(await world.fileOf('test/copy')).toMatchObject({ data: 'of foo' });
  await isGone('the snapshot', 'prod/backup', VOLUME_SNAPSHOTS);
});

test('the Volume of a claim deleted while cloned is kept until the clone is ready', async () => {
  await data('cloned');
  nodes.laziness = Infinity;
  await world.createClaim('prod/clone', {
    dataSource: { kind: 'PersistentVolumeClaim', name: 'cloned' },
  });
  await isBeingMade('prod/clone');
  const { name, uid } = (await volumeOf('prod/cloned'))?.metadata ?? { name: '' };
  expect((await volumeOf('prod/clone'))?.spec.source).toEqual({ volumeName: name, uid });
  await until('the claim is kept as a source', async () =>
    (await world.claim('prod/cloned'))?.metadata.finalizers?.includes(
      SNAPSHOT_FINALIZERS.claimAsSource,
    )
      ? true
      : undefined,
  );
  await world.remove(PERSISTENT_VOLUME_CLAIMS, 'prod/cloned');
  // A user removes the finalizer in a hurry.
  await world.client.patch(
    PERSISTENT_VOLUME_CLAIMS,
    'cloned',
    { metadata: { finalizers: null } },
    { namespace: 'prod' },
  );
  await isGone('the claim', 'prod/cloned', PERSISTENT_VOLUME_CLAIMS);
  // Waits until the controller has processed the event that would release the Volume.
  await until('the daemon keeps the Volume of the claim', async () => {
    const volume = await world.find<Volume>(VOLUMES, `/${name}`);
    if (volume?.metadata.deletionTimestamp !== undefined) throw new Error('its data is taken away');
    return daemon?.lines.some(
      ({ message }) => message === 'keeping volume of deleted claim while it is cloned',
    )
      ? true
      : undefined;
  });
  await finish();
  await world.isBound('prod/clone');
  expect(await world.fileOf('prod/clone')).toMatchObject({ data: 'of cloned' });
  await isGone('the Volume that was cloned', `/${name}`);
});

test('a restarted daemon reads the grants before it reports a missing one', async () => {
  await data('granted');
  await world.createSnapshot('prod/granted', 'granted');
  await world.isReady('prod/granted');
  await end();
  await world.createClaim('test/from-grant', { dataSourceRef: toSnapshot('prod/granted') });
  // The API server delays the response that shows whether it serves grants.
  const { promise: answers, resolve: answer } = Promise.withResolvers<void>();
  let asked = 0;
  await start({
    ...world.client,
    async list(resource, options) {
      if (resource.kind === 'ReferenceGrant' && options?.limit === 1) {
        asked += 1;
        await answers;
      }
      return world.client.list(resource, options);
    },
  });
  await until('the daemon has listed grants', async () => (asked > 0 ? true : undefined));
  await daemon?.caughtUp();
  answer();
  await world.isBound('test/from-grant');
  expect(await world.eventsOf('test/from-grant')).toEqual([]);
});
