import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PersistentVolume } from '../../src/api/core.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { sparseVolume } from '../support/cluster.ts';
import { leftovers } from '../support/leftovers.ts';
import { describeAsRoot } from '../support/root.ts';
import { until } from '../support/until.ts';
import {
  fileOf,
  STOWAGE,
  startVolumeScene,
  TRANSPORTS,
  type VolumeScene,
} from '../support/volume-scene.ts';

/** A manifest from MetalK8s' documentation, unchanged. */
const METALK8S_MANIFEST = `apiVersion: storage.metalk8s.scality.com/v1alpha1
kind: Volume
metadata:
  name: NAME
spec:
  nodeName: n1
  storageClassName: local
  sparseLoopDevice:
    size: 100Mi
  template:
    metadata:
      labels:
        app.kubernetes.io/name: prometheus-operator-prometheus
`;

describeAsRoot.each(TRANSPORTS)('a sparse ext4 volume over %s', (transport) => {
  let scene: VolumeScene;

  beforeAll(async () => {
    scene = await startVolumeScene(transport);
  });
  afterAll(async () => {
    expect(await scene?.stop()).toBe(0);
  });

  /** Expects a complete volume of 100Mi in the cluster and on the node. */
  async function expectWhole(name: string, label: [string, string]): Promise<string> {
    const volume = await scene.get(name);
    const uid = volume.metadata.uid ?? '';
    const link = `/dev/disk/by-id/stowage-${uid}`;
    expect(volume.status).toMatchObject({
      phase: 'Available',
      devicePath: link,
      capacity: '100Mi',
    });
    expect(volume.status?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }]);
    expect(volume.status?.deviceName).toMatch(/^loop\d+$/);
    const pv = await scene.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
    expect(pv.metadata.labels).toEqual({ [label[0]]: label[1] });
    expect(pv.spec).toMatchObject({
      capacity: { storage: '100Mi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      mountOptions: ['noatime'],
      local: { path: link, fsType: 'ext4' },
    });
    const [device, byLink] = await Promise.all([
      stat(`/dev/${volume.status?.deviceName}`),
      stat(link),
    ]);
    expect(byLink.rdev).toBe(device.rdev);
    const expected = [{ uid, file: fileOf(volume), loop: true }];
    expect(await leftovers({ expected, client: scene.client })).toEqual([]);
    return uid;
  }

  const expectNothing = async (uid: string) =>
    expect(await leftovers({ uids: [uid], client: scene.client })).toEqual([]);

  test('is created and deleted by stowage', async () => {
    const flags = [
      '--node',
      'n1',
      '--size',
      '100Mi',
      '--storage-class',
      'local',
      '-l',
      'tier=db',
      '--wait',
    ];
    const created = await scene.run(STOWAGE, ['create', 'volume', 'data1', ...flags, '-o', 'name']);
    expect(created.stdout).toBe('volume.storage.metalk8s.scality.com/data1');
    const uid = await expectWhole('data1', ['tier', 'db']);
    await scene.run(STOWAGE, ['delete', 'volume', 'data1', '--wait']);
    await expectNothing(uid);
  });

  test('is created and deleted by kubectl with the manifest of MetalK8s', async () => {
    await scene.run('kubectl', ['apply', '-f', '-'], METALK8S_MANIFEST.replace('NAME', 'data2'));
    await scene.run('kubectl', ['wait', '--for=condition=Ready', 'volume/data2', '--timeout=120s']);
    const uid = await expectWhole('data2', [
      'app.kubernetes.io/name',
      'prometheus-operator-prometheus',
    ]);
    await scene.run('kubectl', ['delete', 'volume', 'data2', '--timeout=120s']);
    await expectNothing(uid);
  });

  test('twelve concurrent volumes get twelve devices, and leave nothing', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
    await Promise.all(
      names.map((name) => scene.client.create(VOLUMES, sparseVolume(name, 'n1', '32Mi'))),
    );
    const volumes = await Promise.all(names.map(scene.settled));
    expect(new Set(volumes.map(({ status }) => status?.deviceName)).size).toBe(12);
    const expected = volumes.map((volume) => ({
      uid: volume.metadata.uid ?? '',
      file: fileOf(volume),
      loop: true,
    }));
    expect(await leftovers({ expected, client: scene.client })).toEqual([]);
    await Promise.all(names.map((name) => scene.client.delete(VOLUMES, name)));
    await Promise.all(names.map(scene.gone));
    expect(await leftovers({ client: scene.client })).toEqual([]);
  });

  test('is not deleted while mounted, and its condition reports the mount', async () => {
    await scene.client.create(VOLUMES, sparseVolume('used', 'n1', '64Mi'));
    const { status, metadata } = await scene.settled('used');
    await scene.run('mount', [status?.devicePath ?? '', scene.folder]);
    try {
      await scene.client.delete(VOLUMES, 'used');
      const held = await until('the condition reports the mount', async () => {
        const ready = (await scene.get('used')).status?.conditions?.[0];
        return ready?.message?.includes('in use') ? ready.message : undefined;
      });
      expect(held).toContain(`mounted at ${scene.folder}`);
      const uid = metadata.uid ?? '';
      const file = `/var/lib/metalk8s/storage/sparse/${uid}`;
      const faults = await leftovers({ expected: [{ uid, file, loop: true }] });
      expect(faults).toEqual([]);
    } finally {
      await scene.run('umount', [scene.folder]);
    }
    await scene.gone('used');
    await expectNothing(metadata.uid ?? '');
  });

  test('leaves nothing when deleted at any stage of provisioning', async () => {
    const moments: [string, (volume: Volume) => boolean][] = [
      ['created', () => true],
      ['finalizer', ({ metadata }) => (metadata.finalizers ?? []).length > 0],
      ['job', ({ status }) => status?.job !== undefined],
      ['file', (volume) => existsSync(fileOf(volume))],
      ['device', ({ metadata }) => existsSync(`/dev/disk/by-id/stowage-${metadata.uid}`)],
    ];
    const reached = async (volume: Volume, is: (volume: Volume) => boolean) => {
      const { name, uid = '' } = volume.metadata;
      await until(`${name} reaches its stage`, async () => is(await scene.get(name)) || undefined);
      await scene.client.delete(VOLUMES, name);
      await scene.gone(name);
      return uid;
    };
    const uids = await Promise.all(
      moments.map(async ([moment, is]) =>
        reached(
          await scene.client.create(VOLUMES, sparseVolume(`early-${moment}`, 'n1', '64Mi')),
          is,
        ),
      ),
    );
    expect(await leftovers({ uids, client: scene.client })).toEqual([]);
  });

  test('leaves nothing although others removed its finalizer, owner and status', async () => {
    await scene.client.create(VOLUMES, sparseVolume('robbed', 'n1', '64Mi'));
    const { metadata } = await scene.settled('robbed');
    const finalizers = async () => (await scene.get('robbed')).metadata.finalizers ?? [];
    const [finalizer] = await finalizers();
    await scene.client.patch(VOLUMES, 'robbed', { metadata: { finalizers: null } });
    await until('the finalizer is back', async () =>
      (await finalizers()).includes(finalizer ?? '') ? true : undefined,
    );
    await scene.client.patch(PERSISTENT_VOLUMES, 'robbed', { metadata: { ownerReferences: null } });
    await scene.client.patch(VOLUMES, 'robbed', { status: null }, { subresource: 'status' });
    await scene.client.delete(VOLUMES, 'robbed');
    await scene.gone('robbed');
    await until('the PersistentVolume is gone', async () =>
      (await scene.client.list(PERSISTENT_VOLUMES)).items.length === 0 ? true : undefined,
    );
    // Without the status, the file may be removed during a detach, whose traces disappear when it
    // ends.
    await until('nothing is left', async () =>
      (await leftovers({ uids: [metadata.uid ?? ''], client: scene.client })).length === 0
        ? true
        : undefined,
    );
  });

  test('reports a PersistentVolume that the API server refuses, and can be deleted', async () => {
    const volume = sparseVolume('odd', 'n1', '64Mi');
    volume.spec.template = { spec: { hostPath: { path: '/etc' } } };
    await scene.client.create(VOLUMES, volume);
    const { status, metadata } = await scene.settled('odd');
    expect(status?.conditions?.[0]).toMatchObject({ status: 'False', reason: 'CreationError' });
    expect(status?.conditions?.[0]?.message).toMatch(/refused the PersistentVolume: .*volume type/);
    await scene.run(STOWAGE, ['delete', 'volume', 'odd', '--wait']);
    await expectNothing(metadata.uid ?? '');
  });
});
