import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CRDS, STANDARD_CRDS } from '../../../src/api/crds.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import { parseHandle } from '../../../src/api/snapshot-handle.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/cli/install/kinds.ts';
import { orders } from '../../support/orders.ts';
import { NAMESPACE, type SnapshotCluster, startSnapshotCluster } from '../../support/snapshot-cluster.ts';
import { AS_SOURCE, BOUND, OF_CLAIM, OF_CONTENT } from '../../support/snapshot-objects.ts';
import { until } from '../../support/until.ts';

let cluster: SnapshotCluster;
beforeEach(async () => {
  cluster = await startSnapshotCluster();
});
afterEach(() => cluster.end());

const nameOf = ({ metadata }: VolumeSnapshot) => `snapcontent-${metadata.uid}`;
/** A snapshot of a claim, by a class; all made and ready. */
async function take(name = 'backup', policy: 'Delete' | 'Retain' = 'Delete'): Promise<VolumeSnapshot> {
  await cluster.createClass('fast', { policy });
  await cluster.createData('data');
  await cluster.createSnapshot(name, 'data', 'fast');
  return cluster.isReady(name);
}

/** The standard snapshot-controller keeps a snapshot before it does anything else. */
const keep = (name: string) =>
  cluster.client.patch(
    VOLUME_SNAPSHOTS,
    name,
    { metadata: { finalizers: [AS_SOURCE] } },
    { namespace: NAMESPACE },
  );
/** And lets go of it. */
async function letGo(name: string): Promise<void> {
  await cluster.remove(VOLUME_SNAPSHOTS, name);
  await cluster.client.patch(
    VOLUME_SNAPSHOTS,
    name,
    { metadata: { finalizers: null } },
    { namespace: NAMESPACE },
  );
}

describe('a snapshot of a claim', () => {
  test('is taken, shown and at rest then', async () => {
    const began = Date.now();
    cluster.start();
    const snapshot = await take();
    const content = (await cluster.content(nameOf(snapshot))) as VolumeSnapshotContent;
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
    expect(parseHandle(content.status?.snapshotHandle ?? '')).toEqual({ type: 'file', nodes: ['n1'], path });
    expect(snapshot.status).toMatchObject({
      boundVolumeSnapshotContentName: content.metadata.name,
      restoreSize: '1Gi',
    });
    const taken = Date.parse(snapshot.status?.creationTime ?? '');
    // It is given in whole seconds.
    expect(taken).toBeGreaterThanOrEqual(began - 1000);
    expect(taken).toBeLessThanOrEqual(Date.now());
    expect(snapshot.metadata.finalizers).toEqual([BOUND]);
    await until('the claim is let go of', async () =>
      (await cluster.claim('data'))?.metadata.finalizers?.includes(OF_CLAIM) ? undefined : true,
    );
    expect(cluster.nodes.freezes).toEqual([{ seconds: 10, copy: false }]);
    expect(cluster.operations).toEqual([
      { operation: 'create', snapshotClass: 'fast', succeeded: true, ms: expect.any(Number) },
    ]);

    const { writes, nodes } = cluster;
    const [written, asked] = [writes.length, nodes.asked.length];
    // Who begins anew finds nothing to do, and asks no node.
    await cluster.stop();
    cluster.start();
    await cluster.createSnapshot('another', 'data', 'fast');
    await cluster.isReady('another');
    expect(writes.slice(written).filter((write) => write.endsWith(' backup'))).toEqual([]);
    expect(writes.slice(written).filter((write) => write.endsWith(nameOf(snapshot)))).toEqual([]);
    expect(nodes.asked.slice(asked)).toEqual(['take n1']);
  });

  test('has its claim kept while it is taken', async () => {
    cluster.start();
    const go = cluster.nodes.hold();
    await cluster.createClass('fast');
    await cluster.createData('data');
    await cluster.createSnapshot('backup', 'data', 'fast');
    await until('the job runs', async () => (cluster.nodes.asked.includes('take n1') ? true : undefined));
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

  test('that failed is taken by another job, and says so once', async () => {
    cluster.nodes.failures.push('no room', 'no room');
    cluster.start();
    const snapshot = await take();
    const content = (await cluster.content(nameOf(snapshot))) as VolumeSnapshotContent;
    expect(JSON.parse(content.metadata.annotations?.['stowage.dev/snapshot-job'] ?? '')).toMatchObject({
      attempt: 3,
      tries: 3,
    });
    expect(snapshot.status?.error).toBeUndefined();
    expect(cluster.nodes.taken).toHaveLength(1);
    const failures = await until('the event', async () => {
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

  test('waits for a node that is away, and goes on when the Node is back', async () => {
    cluster.nodes.away.add('n1');
    cluster.start();
    await cluster.createClass('fast');
    await cluster.createData('data');
    await cluster.createSnapshot('backup', 'data', 'fast');
    await cluster.says('backup', 'waits for a node: node n1 is away');
    cluster.nodes.away.clear();
    const conditions = [{ type: 'Ready', status: 'False' }];
    await cluster.client.patch(
      { ...VOLUMES, group: '', version: 'v1', plural: 'nodes', kind: 'Node' },
      'n1',
      { status: { conditions } },
      { subresource: 'status' },
    );
    await cluster.isReady('backup');
  });

  test('whose copy is missing says so, and is not taken anew', async () => {
    cluster.start();
    const snapshot = await take();
    await cluster.stop();
    cluster.nodes.copies.clear();
    const name = nameOf(snapshot);
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

  test('whose content is gone says so, and gets no other one', async () => {
    cluster.start();
    const snapshot = await take();
    const name = nameOf(snapshot);
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, name);
    await cluster.client.patch(VOLUME_SNAPSHOT_CONTENTS, name, { metadata: { finalizers: [] } });
    const { status } = await cluster.says('backup', `VolumeSnapshotContent ${name} is missing`);
    expect(status?.readyToUse).toBe(false);
    expect(await cluster.contents()).toEqual([]);
  });

  test('of another Volume of the name is not taken', async () => {
    await cluster.createClass('fast');
    await cluster.createData('data');
    cluster.nodes.away.add('n1');
    cluster.start();
    await cluster.createSnapshot('backup', 'data', 'fast');
    await cluster.says('backup', 'n1 is away');
    await cluster.remove(VOLUMES, 'data');
    cluster.nodes.away.clear();
    await cluster.createVolume('data');
    await cluster.says('backup', 'there is no Volume data, or it is not the one that the snapshot is of');
    expect(cluster.nodes.taken).toEqual([]);
  });
});

describe('a content made by hand', () => {
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

  test('is bound to its snapshot, and goes with it', async () => {
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

  test('takes what another content has with it no sooner than that goes', async () => {
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
      'of which there is no copy',
      `file:n1:${path}`,
      `its copy file:n1:${path} is missing on node n1. Nothing is taken in its place`,
    ],
    [
      'that names something else',
      'file:n1:/etc/shadow',
      'its handle "file:n1:/etc/shadow": the path must end in /snapshots/UID',
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

describe('deleting', () => {
  test('takes the copy with it', async () => {
    cluster.start();
    await take();
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    expect(await cluster.contents()).toEqual([]);
    expect(cluster.nodes.removed).toEqual(cluster.nodes.taken);
    expect(cluster.operations.at(-1)).toMatchObject({ operation: 'delete', succeeded: true });
  });

  test('leaves the content and the copy with the policy Retain', async () => {
    cluster.start();
    const snapshot = await take('backup', 'Retain');
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    expect((await cluster.content(nameOf(snapshot)))?.status?.readyToUse).toBe(true);
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, nameOf(snapshot));
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, nameOf(snapshot));
    expect([...cluster.nodes.copies]).toEqual(cluster.nodes.taken);
  });

  test('has what was half taken removed, also with the policy Retain', async () => {
    cluster.nodes.failures.push(...Array<string>(9).fill('no room'));
    cluster.start();
    await cluster.createClass('fast', { policy: 'Retain' });
    await cluster.createData('data');
    await cluster.createSnapshot('backup', 'data', 'fast');
    await cluster.says('backup', 'Failed to create snapshot: no room');
    const name = (await cluster.contents())[0]?.metadata.name ?? '';
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, name);
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, name);
    expect(cluster.nodes.asked.slice(-2)).toEqual(['look n1', 'remove n1']);
  });

  test('a content waits for its snapshot', async () => {
    cluster.start();
    const name = nameOf(await take());
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, name);
    await until('it says so', async () =>
      (await cluster.events(name)).find(({ reason }) => reason === 'SnapshotDeletePending'),
    );
    expect(cluster.nodes.removed).toEqual([]);
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, name);
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
  });

  test('waits for a node that is away, and says so', async () => {
    cluster.start();
    await take();
    cluster.nodes.away.add('n1');
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.says('backup', 'waits for a node: node n1 is away');
    await cluster.stop();
    cluster.nodes.away.clear();
    cluster.start();
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    expect(cluster.nodes.copies.size).toBe(0);
  });

  test.each(['Delete', 'Retain'] as const)('waits for what is made from it (%s)', async (policy) => {
    cluster.start();
    const snapshot = await take('backup', policy);
    await cluster.createVolume('restored', { source: { snapshotContentName: nameOf(snapshot) } });
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.says('backup', 'Snapshot is being used to restore Volume restored');
    expect(cluster.nodes.removed).toEqual([]);
    await cluster.makeVolume('restored');
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
    expect(cluster.nodes.copies.size).toBe(policy === 'Delete' ? 0 : 1);
  });

  test('what a volume is made from is shown to be a source until then', async () => {
    cluster.start();
    const snapshot = await take();
    const holds = (wanted: string[]) =>
      until(
        `it is held by ${wanted}`,
        async () =>
          String((await cluster.snapshot('backup'))?.metadata.finalizers) === String(wanted) || undefined,
      );
    await cluster.createVolume('restored', { source: { snapshotContentName: nameOf(snapshot) } });
    await holds([BOUND, AS_SOURCE]);
    await cluster.makeVolume('restored');
    await holds([BOUND]);
    // Given up, it holds nothing either; nor does what another process left, whenever it began.
    await cluster.createVolume('given-up', { source: { snapshotContentName: nameOf(snapshot) } });
    await holds([BOUND, AS_SOURCE]);
    await cluster.stop();
    await cluster.remove(VOLUMES, 'given-up');
    cluster.start();
    await holds([BOUND]);
  });

  test.each(['builtin', 'external'] as const)(
    'a claim waits for what is cloned from it (%s)',
    async (flag) => {
      await cluster.createData('data');
      await cluster.createVolume('clone', { source: { volumeName: 'data' } });
      cluster.start({ flag });
      await until('the claim is held', async () =>
        (await cluster.claim('data'))?.metadata.finalizers?.includes(OF_CLAIM) ? true : undefined,
      );
      await cluster.remove(PERSISTENT_VOLUME_CLAIMS, 'data');
      expect((await cluster.claim('data'))?.metadata.deletionTimestamp).toBeDefined();
      await cluster.makeVolume('clone');
      await cluster.isGone(PERSISTENT_VOLUME_CLAIMS, 'data');
    },
  );

  test('beside a controller that does not, a content waits for what is made from it', async () => {
    cluster.start({ flag: 'external' });
    await cluster.createClass('fast');
    await cluster.createData('data');
    const { metadata } = await cluster.createSnapshot('backup', 'data', 'fast');
    await keep('backup');
    const name = `snapcontent-${metadata.uid}`;
    await until('it is taken', async () => (await cluster.content(name))?.status?.readyToUse || undefined);
    await cluster.createVolume('restored', { source: { snapshotContentName: name } });
    await letGo('backup');
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, name);
    await until('it says so', async () =>
      (await cluster.events(name)).find(({ message }) => message === 'Volume restored is being made from it'),
    );
    expect(cluster.nodes.removed).toEqual([]);
    await cluster.remove(VOLUMES, 'restored');
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, name);
    expect(cluster.nodes.copies.size).toBe(0);
  });

  test('what was protected as a source is let go of with its content gone', async () => {
    cluster.start();
    const snapshot = await take();
    await cluster.stop();
    const finalizers = [BOUND, AS_SOURCE];
    await cluster.client.patch(
      VOLUME_SNAPSHOTS,
      'backup',
      { metadata: { finalizers } },
      { namespace: NAMESPACE },
    );
    await cluster.client.patch(VOLUME_SNAPSHOT_CONTENTS, nameOf(snapshot), { metadata: { finalizers: [] } });
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, nameOf(snapshot));
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    cluster.start();
    await cluster.isGone(VOLUME_SNAPSHOTS, 'backup');
  });
});

describe('whatever comes first', () => {
  const [letters] = ['abcdefghijklmnopqrstuvwxyz'];
  const named = (order: number) => `${letters[order % 26]}${order}`;

  test('a snapshot is taken once', async () => {
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

  test('all goes that is deleted, and nothing is left', async () => {
    cluster.start();
    const all = orders(['class', 'snapshot', 'claim', 'volume']);
    await Promise.all(
      all.map(async (order, index) => {
        const name = named(index);
        await cluster.createClass(name);
        await cluster.createData(name);
        await cluster.createSnapshot(name, name, name);
        // Also of what is not taken yet.
        if (index % 2 === 0) await cluster.isReady(name);
        for (const what of order) {
          if (what === 'class') await cluster.remove(VOLUME_SNAPSHOT_CLASSES, name);
          if (what === 'snapshot') await cluster.remove(VOLUME_SNAPSHOTS, name);
          if (what === 'claim') await cluster.remove(PERSISTENT_VOLUME_CLAIMS, name);
          // Its PersistentVolume goes with its owner.
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

describe('beside the standard snapshot-controller', () => {
  test('only the content is made', async () => {
    cluster.start({ flag: 'external' });
    await cluster.createClass('fast');
    await cluster.createData('data');
    await cluster.createSnapshot('backup', 'data', 'fast');
    const { metadata } = await keep('backup');
    const name = `snapcontent-${metadata.uid}`;
    await until('it is taken', async () => (await cluster.content(name))?.status?.readyToUse || undefined);
    const { resourceVersion } = (await cluster.snapshot('backup'))?.metadata ?? {};
    expect(resourceVersion).toBe(metadata.resourceVersion);
    expect((await cluster.claim('data'))?.metadata.finalizers ?? []).not.toContain(OF_CLAIM);
  });

  test('the default class is written, without which that controller goes no further', async () => {
    cluster.start({ flag: 'external' });
    await cluster.createClass('fast', { isDefault: true });
    await cluster.createData('data');
    await cluster.createSnapshot('backup', 'data');
    await until('the class is written', async () =>
      (await cluster.snapshot('backup'))?.spec.volumeSnapshotClassName === 'fast' ? true : undefined,
    );
    expect((await cluster.snapshot('backup'))?.status).toBeUndefined();
  });

  test('a snapshot that goes while it is taken takes its copy with it', async () => {
    cluster.start({ flag: 'external' });
    const go = cluster.nodes.hold();
    await cluster.createClass('fast');
    await cluster.createData('data');
    const { metadata } = await cluster.createSnapshot('backup', 'data', 'fast');
    await keep('backup');
    const name = `snapcontent-${metadata.uid}`;
    await until('the job runs', async () => cluster.nodes.asked.includes('take n1') || undefined);
    await letGo('backup');
    go();
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, name);
    expect(cluster.nodes.copies.size).toBe(0);
  });

  test('a note that it took away is written again, and the copy goes with the content', async () => {
    cluster.start({ flag: 'external' });
    const go = cluster.nodes.hold();
    await cluster.createClass('fast');
    await cluster.createData('data');
    const { metadata } = await cluster.createSnapshot('backup', 'data', 'fast');
    await keep('backup');
    const name = `snapcontent-${metadata.uid}`;
    await until('the job runs', async () => cluster.nodes.asked.includes('take n1') || undefined);
    const before = await cluster.content(name);
    // As it does when the snapshot is deleted, by a cache that has not heard of the note.
    const annotations = {
      'stowage.dev/snapshot-job': null,
      'snapshot.storage.kubernetes.io/volumesnapshot-being-deleted': 'yes',
    };
    await cluster.client.patch(VOLUME_SNAPSHOT_CONTENTS, name, { metadata: { annotations } });
    // The job ends.
    cluster.nodes.copies.add(`/var/lib/metalk8s/storage/sparse/snapshots/${before?.metadata.uid}`);
    go();
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, name);
    await letGo('backup');
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, name);
    expect(before?.metadata.labels).toEqual({ 'stowage.dev/snapshot-attempt': '1' });
    expect(cluster.nodes.copies.size).toBe(0);
  });

  test('a claim that it keeps for no snapshot any more is let go of', async () => {
    cluster.start({ flag: 'external' });
    await cluster.createClass('fast');
    for (const name of ['data', 'used']) await cluster.createData(name);
    await cluster.createSnapshot('backup', 'used', 'fast');
    const finalizers = [OF_CLAIM, 'of.others/x'];
    for (const name of ['used', 'data'])
      await cluster.client.patch(
        PERSISTENT_VOLUME_CLAIMS,
        name,
        { metadata: { finalizers } },
        { namespace: NAMESPACE },
      );
    await until('it is let go of', async () =>
      (await cluster.claim('data'))?.metadata.finalizers?.includes(OF_CLAIM) ? undefined : true,
    );
    expect((await cluster.claim('data'))?.metadata.finalizers).toContain('of.others/x');
    // It was seen before the other one.
    expect((await cluster.claim('used'))?.metadata.finalizers).toContain(OF_CLAIM);
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await until('the other one is, too', async () =>
      (await cluster.claim('used'))?.metadata.finalizers?.includes(OF_CLAIM) ? undefined : true,
    );
  });

  test('what was not there is heard of', async () => {
    cluster.start({ flag: 'auto' });
    const lease = (holderIdentity: string) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'snapshot-controller-leader', namespace: 'kube-system' },
      spec: { holderIdentity, leaseDurationSeconds: 15 },
    });
    await cluster.createClass('fast');
    await cluster.createData('data');
    await cluster.createSnapshot('before', 'data', 'fast');
    await cluster.isReady('before');
    const leases = {
      group: 'coordination.k8s.io',
      version: 'v1',
      plural: 'leases',
      kind: 'Lease',
      namespaced: true,
    };
    await cluster.client.create(leases, lease('one'));
    await until('it is seen', async () =>
      cluster.lines().find(({ message }) => message === 'who binds VolumeSnapshots has changed'),
    );
    const { metadata } = await cluster.createSnapshot('beside', 'data', 'fast');
    await keep('beside');
    const name = `snapcontent-${metadata.uid}`;
    await until('it is taken', async () => (await cluster.content(name))?.status?.readyToUse || undefined);
    expect((await cluster.snapshot('beside'))?.status).toBeUndefined();
    await cluster.client.patch(
      leases,
      'snapshot-controller-leader',
      { spec: { holderIdentity: '' } },
      { namespace: 'kube-system' },
    );
    await cluster.isReady('beside');
  });
});

test('a cluster that gets the CRDs later is served from then on', async () => {
  await cluster.end();
  cluster = await startSnapshotCluster({ crds: CRDS });
  cluster.start();
  await until('it waits', async () => cluster.lines().find(({ level }) => level === 'info'));
  for (const crd of STANDARD_CRDS['snapshot-crds']) {
    await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, crd as unknown as KubeObject);
  }
  await cluster.createData('data');
  await cluster.createClass('fast');
  await cluster.createSnapshot('backup', 'data', 'fast');
  await until('it is ready', async () => (await cluster.snapshot('backup'))?.status?.readyToUse || undefined);
  expect(cluster.lines().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
});
