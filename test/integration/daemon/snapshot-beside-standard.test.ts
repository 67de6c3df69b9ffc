import { describe, expect, test } from '@jest/globals';
import {
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
} from '../../../src/api/resources.ts';
import { contentOf, NAMESPACE } from '../../support/cluster-snapshots.ts';
import { snapshotCluster } from '../../support/snapshot-cluster.ts';
import { OF_CLAIM } from '../../support/snapshot-objects.ts';
import { until } from '../../support/until.ts';

const cluster = snapshotCluster();

describe('beside the standard snapshot-controller', () => {
  test('the daemon writes only the content, not the VolumeSnapshot or the claim', async () => {
    cluster.start({ flag: 'external' });
    await cluster.ask();
    const { metadata } = await cluster.keep('backup');
    const name = `snapcontent-${metadata.uid}`;
    await cluster.isTaken(name);
    const { resourceVersion } = (await cluster.snapshot('backup'))?.metadata ?? {};
    expect(resourceVersion).toBe(metadata.resourceVersion);
    expect((await cluster.claim('data'))?.metadata.finalizers ?? []).not.toContain(OF_CLAIM);
  });

  test('the daemon sets the default class, which that controller requires', async () => {
    cluster.start({ flag: 'external' });
    await cluster.createClass('fast', { isDefault: true });
    await cluster.createData('data');
    await cluster.createSnapshot('backup', 'data');
    await until('the class is written', async () =>
      (await cluster.snapshot('backup'))?.spec.volumeSnapshotClassName === 'fast'
        ? true
        : undefined,
    );
    expect((await cluster.snapshot('backup'))?.status).toBeUndefined();
  });

  test('a snapshot deleted during its creation leaves no content and no copy', async () => {
    cluster.start({ flag: 'external' });
    const go = cluster.nodes.hold();
    const name = contentOf(await cluster.ask());
    await cluster.keep('backup');
    await cluster.untilAsked('take n1');
    await cluster.letGo('backup');
    go();
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, name);
    expect(cluster.nodes.copies.size).toBe(0);
  });

  test('a copy is deleted with its content although the job record was removed', async () => {
    cluster.start({ flag: 'external' });
    const go = cluster.nodes.hold();
    const name = contentOf(await cluster.ask());
    await cluster.keep('backup');
    await cluster.untilAsked('take n1');
    const before = await cluster.content(name);
    // The standard controller does this when the snapshot is deleted, if its cache does not have
    // the job record yet.
    const annotations = {
      'stowage.dev/snapshot-job': null,
      'snapshot.storage.kubernetes.io/volumesnapshot-being-deleted': 'yes',
    };
    await cluster.client.patch(VOLUME_SNAPSHOT_CONTENTS, name, { metadata: { annotations } });
    // The job ends.
    cluster.nodes.copies.add(`/var/lib/metalk8s/storage/sparse/snapshots/${before?.metadata.uid}`);
    go();
    await cluster.remove(VOLUME_SNAPSHOT_CONTENTS, name);
    await cluster.letGo('backup');
    await cluster.isGone(VOLUME_SNAPSHOT_CONTENTS, name);
    expect(before?.metadata.labels).toEqual({ 'stowage.dev/snapshot-attempt': '1' });
    expect(cluster.nodes.copies.size).toBe(0);
  });

  test('the finalizer of a claim is removed once no snapshot needs the claim', async () => {
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
    await cluster.isKept('data', false);
    expect((await cluster.claim('data'))?.metadata.finalizers).toContain('of.others/x');
    // The daemon observed this claim before the other one.
    expect((await cluster.claim('used'))?.metadata.finalizers).toContain(OF_CLAIM);
    await cluster.remove(VOLUME_SNAPSHOTS, 'backup');
    await cluster.isKept('used', false);
  });

  test('the daemon detects when that controller starts and stops', async () => {
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
    await until('the change is logged', async () =>
      cluster
        .lines()
        .find(({ message }) => message === 'the controller that binds VolumeSnapshots changed'),
    );
    const { metadata } = await cluster.createSnapshot('beside', 'data', 'fast');
    await cluster.keep('beside');
    const name = `snapcontent-${metadata.uid}`;
    await cluster.isTaken(name);
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
