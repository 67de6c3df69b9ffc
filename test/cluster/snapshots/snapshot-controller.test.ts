import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
} from '../../../src/api/resources.ts';
import type { VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import { parseHandle } from '../../../src/api/snapshot-handle.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import { isAllGone } from '../../support/all-gone.ts';
import {
  claimsOf,
  createClass,
  createSnapshotClass,
  type Id,
} from '../../support/claim-objects.ts';
import { type DeviceMounts, deviceMounts } from '../../support/device-mounts.ts';
import { type OwnFileSystem, ownFileSystem } from '../../support/loop-mounts.ts';
import { describeAsRoot } from '../../support/root.ts';
import { until } from '../../support/until.ts';
import { startBareScene } from '../bare-node.ts';
import { startSnapshotController } from '../control-plane/snapshot-controller.ts';
import type { Scene } from '../kubelet/scene.ts';
import type { Part } from '../part.ts';

const NAMESPACE = 'default';
const idOf = (name: string): Id => `${NAMESPACE}/${name}`;
const IS_SOURCE = 'snapshot.storage.kubernetes.io/pvc-as-source-protection';

type Mode = 'auto' | 'external';
const flagOf = (mode: Mode | 'builtin') => [`--snapshot-controller=${mode}`];

describeAsRoot('snapshots with the standard snapshot-controller', () => {
  let disk: OwnFileSystem;
  let devices: DeviceMounts;
  let scene: Scene;
  let claims: ReturnType<typeof claimsOf>;
  let standard: Part;
  let directory: string;

  beforeAll(async () => {
    disk = await ownFileSystem('xfs', 4n << 30n);
    devices = deviceMounts(disk.path);
    directory = join(disk.path, 'volumes');
    scene = await startBareScene({ components: ['snapshot-crds'], watchFlags: flagOf('auto') });
    const { client } = scene;
    claims = claimsOf(client, { storageClassName: 'fast', size: '64Mi' });
    await createClass(client, 'fast', directory, 'ext4');
    await createSnapshotClass(client, 'deletes');
    await createSnapshotClass(client, 'retains', 'Retain');
    await claims.create(idOf('data'));
    await write('before all');
  }, 600_000);
  afterEach(() => devices?.unmount());
  afterAll(async () => {
    await standard?.stop();
    await scene?.stop();
    await devices?.clean();
    await disk?.remove();
  });

  async function fileOf(name: string): Promise<string> {
    const { spec } = await claims.isBound(idOf(name));
    return join(await devices.mount(spec.local?.path ?? '', name), 'data');
  }
  const write = async (word: string) => writeFile(await fileOf('data'), word);
  const read = async (name: string) => readFile(await fileOf(name), 'utf8');

  const content = (name: string) =>
    scene.client.get<VolumeSnapshotContent>(VOLUME_SNAPSHOT_CONTENTS, name);
  const contentOf = async (snapshot: string) =>
    content((await claims.isReady(idOf(snapshot))).status?.boundVolumeSnapshotContentName ?? '');
  const exists = (name: string) =>
    until(`VolumeSnapshotContent ${name} exists`, () =>
      content(name).catch((error: unknown) =>
        isNotFound(error) ? undefined : Promise.reject(error),
      ),
    );
  const isGone = (name: string) =>
    until(`VolumeSnapshotContent ${name} is gone`, () =>
      content(name).then(
        () => undefined,
        (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
      ),
    );

  function pathOf({ spec, status }: VolumeSnapshotContent): string {
    const handle = parseHandle(status?.snapshotHandle ?? spec.source.snapshotHandle ?? '');
    if (!('path' in handle)) throw new Error(JSON.stringify(handle));
    return handle.path;
  }

  /** Returns the content of a claim that starts from the snapshot. */
  async function restored(snapshot: string): Promise<string> {
    const name = `from-${snapshot}`;
    const dataSource = {
      apiGroup: 'snapshot.storage.k8s.io',
      kind: 'VolumeSnapshot',
      name: snapshot,
    };
    await claims.create(idOf(name), { dataSource });
    const word = await read(name);
    await devices.unmount();
    await claims.remove(idOf(name));
    return word;
  }

  /**
   * Deletes the snapshot, and checks that its content and file are deleted or retained by policy.
   */
  async function deleted(snapshot: string): Promise<void> {
    const { metadata, spec } = await contentOf(snapshot);
    const path = pathOf(await content(metadata.name));
    await claims.removeSnapshot(idOf(snapshot));
    await claims.isGone(VOLUME_SNAPSHOTS, idOf(snapshot));
    if (spec.deletionPolicy === 'Delete') await isGone(metadata.name);
    expect(existsSync(path)).toBe(spec.deletionPolicy === 'Retain');
  }

  /**
   * Creates a pre-provisioned content and snapshot for a handle, as for a snapshot from elsewhere.
   */
  async function preProvision(name: string, snapshotHandle: string): Promise<void> {
    await scene.client.create<KubeObject>(VOLUME_SNAPSHOT_CONTENTS, {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshotContent',
      metadata: { name },
      spec: {
        ...{ driver: 'volume.stowage.dev', deletionPolicy: 'Delete', source: { snapshotHandle } },
        volumeSnapshotRef: { namespace: NAMESPACE, name },
      },
    } as KubeObject);
    await scene.client.create<KubeObject>(
      VOLUME_SNAPSHOTS,
      {
        apiVersion: 'snapshot.storage.k8s.io/v1',
        kind: 'VolumeSnapshot',
        metadata: { name },
        spec: { source: { volumeSnapshotContentName: name } },
      } as KubeObject,
      { namespace: NAMESPACE },
    );
  }

  const logged = (text: string) =>
    until(`the daemon logs ${text}`, async () =>
      (await readFile(scene.log, 'utf8')).includes(text) ? true : undefined,
    );

  /** Waits until the claim's finalizer is removed, as no snapshot of it is being created. */
  const isReleased = () =>
    until('the finalizer of the claim is removed', async () => {
      const { metadata } = await claims.get(idOf('data'));
      return metadata.finalizers?.includes(IS_SOURCE) ? undefined : true;
    });

  describe('a snapshot-controller that is installed after snapshots exist', () => {
    let kept: VolumeSnapshotContent[];

    beforeAll(async () => {
      await claims.createSnapshot(idOf('old-deletes'), 'data');
      await claims.createSnapshot(idOf('old-retains'), 'data', 'retains');
      kept = [await contentOf('old-deletes'), await contentOf('old-retains')];
      standard = await startSnapshotController(
        scene.controlPlane.kubeconfig,
        scene.controlPlane.folder,
      );
      await logged('"mode":"external"');
    }, 600_000);

    test('leaves existing snapshots unchanged', async () => {
      // Once this snapshot is ready, the daemon has observed the earlier ones, too.
      await claims.createSnapshot(idOf('mark'), 'data', 'deletes');
      await claims.isReady(idOf('mark'));
      await deleted('mark');
      for (const { metadata, spec, status } of kept) {
        const now = await content(metadata.name);
        expect([now.metadata.uid, now.spec, now.status]).toEqual([metadata.uid, spec, status]);
      }
      const { status } = await claims.snapshot(idOf('old-deletes'));
      expect(status).toMatchObject({ readyToUse: true, restoreSize: expect.any(String) });
      expect(status?.error).toBeUndefined();
    });
    test.each(['old-deletes', 'old-retains'])('%s can be restored, then deleted', async (name) => {
      expect(await restored(name)).toBe('before all');
      await deleted(name);
    });
    test('imports a retained snapshot by its handle', async () => {
      const [, retained] = kept as [VolumeSnapshotContent, VolumeSnapshotContent];
      await scene.client.delete(VOLUME_SNAPSHOT_CONTENTS, retained.metadata.name);
      await isGone(retained.metadata.name);
      await preProvision('brought', retained.status?.snapshotHandle ?? '');
      expect((await contentOf('brought')).status).toMatchObject({ readyToUse: true });
      expect(await restored('brought')).toBe('before all');
      await deleted('brought');
      expect(existsSync(pathOf(retained))).toBe(false);
    });
  });

  describe.each<[Mode]>([['auto'], ['external']])('--snapshot-controller=%s', (mode) => {
    beforeAll(async () => {
      await scene.watch(flagOf(mode));
    });

    test.each<[string, string | undefined, 'Delete' | 'Retain']>([
      ['of a class', 'deletes', 'Delete'],
      ['of the default class', undefined, 'Delete'],
      ['of a class with Retain', 'retains', 'Retain'],
    ])('a snapshot %s is taken, restored and deleted', async (_, className, policy) => {
      const name = `${mode}-${className ?? 'default'}`;
      await write(name);
      await devices.unmount();
      await claims.createSnapshot(idOf(name), 'data', className);
      const taken = await contentOf(name);
      expect(taken.spec).toMatchObject({ deletionPolicy: policy, driver: 'volume.stowage.dev' });
      await write('after it');
      await devices.unmount();
      expect(await restored(name)).toBe(name);
      await isReleased();
      await deleted(name);
      if (policy === 'Delete') return;
      await preProvision(`${name}-again`, taken.status?.snapshotHandle ?? '');
      expect(await restored(`${name}-again`)).toBe(name);
      await scene.client.delete(VOLUME_SNAPSHOT_CONTENTS, taken.metadata.name);
      await isGone(taken.metadata.name);
      await deleted(`${name}-again`);
    });

    test('a snapshot of a missing claim is taken once the claim exists', async () => {
      await claims.createSnapshot(idOf(`${mode}-early`), 'late', 'deletes');
      await claims.isTold(idOf(`${mode}-early`), 'SnapshotContentCreationFailed');
      await claims.create(idOf('late'));
      await contentOf(`${mode}-early`);
      await claims.remove(idOf('late'));
      await claims.isGone(PERSISTENT_VOLUME_CLAIMS, idOf('late'));
      await deleted(`${mode}-early`);
    });

    test('snapshots that are deleted during creation leave nothing behind', async () => {
      const names = Array.from({ length: 12 }, (_, index) => `${mode}-short-${index}`);
      await Promise.all(
        names.map(async (name, index) => {
          const { metadata } = await claims.createSnapshot(idOf(name), 'data', 'deletes');
          if (index % 3 !== 0) await exists(`snapcontent-${metadata.uid}`);
          await claims.removeSnapshot(idOf(name));
        }),
      );
      for (const name of names) await claims.isGone(VOLUME_SNAPSHOTS, idOf(name));
      await isReleased();
    });
  });

  test('nothing is left after all snapshots and claims are deleted', async () => {
    await claims.remove(idOf('data'));
    await isAllGone(scene.client, directory);
  });
});
