import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DataSourceReference, PersistentVolume } from '../../src/api/core.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import {
  NAMESPACES,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { claimsOf, createClass, createSnapshotClass, type Id } from '../support/claim-objects.ts';
import { type DeviceMounts, deviceMounts } from '../support/device-mounts.ts';
import { type OwnFileSystem, ownFileSystem } from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { LINK_POPULATOR } from '../support/snapshots.ts';

/** A cluster for the claims, of any kind, with this machine as node n1 and all CRDs. */
export interface KepScene {
  client: KubeClient;
  stowage(...args: string[]): Promise<{ exitCode?: number; stdout: string; stderr: string }>;
  /** Restarts `stowage watch` with these flags. */
  watch(flags: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Returns the flag of the gate, for the API server and the daemon. */
export const gate = (on: boolean) => `--feature-gates=CrossNamespaceVolumeDataSource=${on}`;

interface Case {
  name: string;
  /** Namespace of the claim. */
  namespace: string;
  /** Namespace in the reference, or of the link's snapshot. */
  of: 'prod' | undefined;
  isMade: boolean;
}

/** Cases of KEP-3294's e2e tests, with its titles. Only `test` has a grant for prod/foo-backup. */
const CASES: readonly Case[] = [
  {
    name: 'PV is provisioned from VS in other NS and allowed by ReferenceGrant',
    ...{ namespace: 'test', of: 'prod', isMade: true },
  },
  {
    name: "PV isn't provisioned from VS in other NS and not allowed by ReferenceGrant",
    ...{ namespace: 'other', of: 'prod', isMade: false },
  },
  {
    name: 'PV is provisioned from VS in the same NS with empty namespace and not allowed by ReferenceGrant',
    ...{ namespace: 'prod', of: undefined, isMade: true },
  },
  {
    // The KEP has "isn't". external-provisioner, and so Stowage, requires no grant within a
    // namespace.
    name: 'PV is provisioned from VS in the same NS with non-empty namespace and not allowed by ReferenceGrant',
    ...{ namespace: 'prod', of: 'prod', isMade: true },
  },
];

const SNAPSHOT = {
  apiGroup: 'snapshot.storage.k8s.io',
  kind: 'VolumeSnapshot',
  name: 'foo-backup',
};
const TO_PROD: DataSourceReference = { ...SNAPSHOT, namespace: 'prod' };
/** Reference to the link of the first case. */
const TO_LINK: DataSourceReference = { ...SNAPSHOT, kind: 'VolumeSnapshotLink', name: 'link-0' };

/**
 * Declares the tests. `start` starts a cluster whose API server and daemon have the gate on or off.
 */
export function describeCrossNamespace(start: (gate: boolean) => Promise<KepScene>): void {
  describeAsRoot('with the gate, by dataSourceRef', () => {
    const story = storyOf(() => start(true));

    test.each(CASES)('$name', (each) =>
      story.check(each, { ...SNAPSHOT, ...(each.of && { namespace: each.of }) }),
    );

    test('restore snapshot names the namespace', async () => {
      expect(await story.restored()).toEqual(TO_PROD);
    });

    test("the daemon's own gate off: the claim waits and says so; on: bound; off again: untouched", async () => {
      const { scene, claims } = story.now();
      await scene.watch([gate(false)]);
      await claims.create('test/gated', { dataSourceRef: TO_PROD });
      await claims.isTold(
        'test/gated',
        'VolumeSnapshot prod/foo-backup in another namespace than test',
      );
      await story.isNotMade('test/gated');

      await scene.watch([gate(true)]);
      const pv = await claims.isBound('test/gated');
      expect(await story.bytesOf('test/gated', pv)).toBe('of the story');
      const before = await story.seen('test/gated');

      await scene.watch([gate(false)]);
      await claims.create('test/gated-too', { dataSourceRef: TO_PROD });
      await claims.isTold('test/gated-too', 'in another namespace than test');
      expect(await story.seen('test/gated')).toEqual(before);
      expect(await story.bytesOf('test/gated')).toBe('of the story');
      await scene.watch([gate(true)]);
    });
  });

  describeAsRoot('with the gate off, by VolumeSnapshotLink', () => {
    const story = storyOf(() => start(false));

    test.each(CASES.map((each, index) => ({ ...each, index })))('$name', async (each) => {
      const { client } = story.now().scene;
      const name = `link-${each.index}`;
      const source = { name: 'foo-backup', ...(each.of && { namespace: each.of }) };
      await client.create<KubeObject>(
        VOLUME_SNAPSHOT_LINKS,
        {
          apiVersion: 'snapshot.storage.k8s.io/v1alpha1',
          kind: 'VolumeSnapshotLink',
          metadata: { name },
          ...{ spec: { source } },
        } as KubeObject,
        { namespace: each.namespace },
      );
      await story.check(each, { ...SNAPSHOT, kind: 'VolumeSnapshotLink', name });
    });

    test('restore snapshot makes a link', async () => {
      expect(await story.restored()).toEqual({
        ...SNAPSHOT,
        kind: 'VolumeSnapshotLink',
        name: 'restored',
      });
    });

    test('none is followed without a VolumePopulator of the kind, and it is once there is one', async () => {
      const { scene, claims } = story.now();
      await scene.client.delete(VOLUME_POPULATORS, LINK_POPULATOR.metadata.name);
      await claims.create('test/unregistered', { dataSourceRef: TO_LINK });
      await claims.isTold(
        'test/unregistered',
        'the cluster has no VolumePopulator for VolumeSnapshotLinks',
      );
      await scene.client.create(VOLUME_POPULATORS, LINK_POPULATOR);
      expect(
        await story.bytesOf('test/unregistered', await claims.isBound('test/unregistered')),
      ).toBe('of the story');
    });

    test('with --cross-namespace-snapshot=false they are left to another populator', async () => {
      const { scene, claims } = story.now();
      await scene.watch([gate(false), '--cross-namespace-snapshot=false']);
      await claims.create('test/left-alone', { dataSourceRef: TO_LINK });
      await claims.isTold(
        'test/left-alone',
        'Assuming an external populator will provision the volume',
      );
      expect((await scene.stowage('get', 'populators', 'volumesnapshotlink')).stdout).toContain(
        '(others)',
      );
      const { exitCode, stderr } = await scene.stowage(
        ...[
          'restore',
          'snapshot',
          'prod/foo-backup',
          '--to',
          'test/not-made',
          '--storage-class',
          'fast',
        ],
      );
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringContaining('its daemon follows no VolumeSnapshotLinks'),
      ]);
      await scene.watch([gate(false)]);
      expect((await scene.stowage('get', 'populators', 'volumesnapshotlink')).stdout).toContain(
        'stowage.dev',
      );
      await claims.isBound('test/left-alone');
    });
  });
}

/**
 * Sets up prod/foo with a file, its snapshot prod/foo-backup, and a grant of the snapshot to
 * `test`.
 */
function storyOf(start: () => Promise<KepScene>) {
  let disk: OwnFileSystem;
  let devices: DeviceMounts;
  let scene: KepScene;
  let claims: ReturnType<typeof claimsOf>;

  beforeAll(async () => {
    disk = await ownFileSystem('xfs', 4n << 30n);
    devices = deviceMounts(disk.path);
    scene = await start();
    const { client } = scene;
    claims = claimsOf(client, { storageClassName: 'fast', size: '64Mi' });
    for (const name of ['prod', 'test', 'other']) {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await client.create<KubeObject>(NAMESPACES, namespace);
    }
    await createClass(client, 'fast', join(disk.path, 'volumes'), 'ext4');
    await createSnapshotClass(client, 'fast');
    await claims.create('prod/foo');
    const path = await mounted('prod/foo');
    await writeFile(join(path, 'data'), 'of the story');
    await does('create', 'snapshot', 'foo-backup', '--pvc', 'foo', '-n', 'prod', '--wait');
    await writeFile(join(path, 'data'), 'written after it');
    await does('grant', 'snapshot', 'prod/foo-backup', '--to', 'test');
  }, 600_000);
  afterAll(async () => {
    await scene?.stop();
    await devices?.clean();
    await disk?.remove();
  });

  async function does(...argv: string[]): Promise<void> {
    const { exitCode, stderr } = await scene.stowage(...argv);
    expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
  }

  const mounted = async (id: Id, pv?: PersistentVolume) =>
    devices.mount((pv ?? (await claims.isBound(id))).spec.local?.path ?? '', id.replace('/', '-'));

  const bytesOf = async (id: Id, pv?: PersistentVolume) =>
    readFile(join(await mounted(id, pv), 'data'), 'utf8');

  const volumes = async () => (await scene.client.list<Volume>(VOLUMES)).items;

  async function isNotMade(id: Id): Promise<void> {
    const { metadata, status, spec } = await claims.get(id);
    expect([status?.phase, spec.volumeName]).toEqual(['Pending', undefined]);
    expect(
      (await volumes()).filter(({ metadata: { name } }) => name === `pvc-${metadata.uid}`),
    ).toEqual([]);
  }

  let count = 0;
  return {
    now: () => ({ scene, claims }),
    bytesOf,
    isNotMade,

    async check({ namespace, isMade }: Case, dataSourceRef: DataSourceReference): Promise<void> {
      const id: Id = `${namespace}/claim-${++count}`;
      await claims.create(id, { dataSourceRef });
      if (isMade) {
        expect(await bytesOf(id)).toBe('of the story');
        return;
      }
      const denied = `accessing prod/foo-backup of VolumeSnapshot dataSource from ${id} isn't allowed`;
      await claims.isTold(id, denied);
      await isNotMade(id);
    },

    /** Restores the snapshot by the command. @returns the claim's data source */
    async restored(): Promise<DataSourceReference | undefined> {
      await does('restore', 'snapshot', 'prod/foo-backup', '--to', 'test/restored', '--wait');
      expect(await bytesOf('test/restored')).toBe('of the story');
      return (await claims.get('test/restored')).spec.dataSourceRef ?? undefined;
    },

    /** Returns UIDs and specs of a bound claim, its PersistentVolume and its Volume. */
    async seen(id: Id) {
      const claim = await claims.get(id);
      const pv = await claims.isBound(id);
      const volume = (await volumes()).find(({ metadata }) => metadata.name === pv.metadata.name);
      return [claim, pv, volume].map((each) => [each?.metadata.uid, each?.spec]);
    },
  };
}
