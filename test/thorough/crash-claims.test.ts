import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Resource } from '../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  REFERENCE_GRANTS,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import {
  claimsOf,
  createClass,
  createNode,
  createSnapshotClass,
  type Id,
} from '../support/claim-objects.ts';
import { startClaimsCluster } from '../support/claims-cluster.ts';
import { type Crash, crashAtEach, crashScene } from '../support/crash-scene.ts';
import { leftovers } from '../support/leftovers.ts';
import { describeAsRoot } from '../support/root.ts';
import { FROM_CLAIMS, fresh, grantNamed, TO_BACKUP, TO_SNAPSHOT } from '../support/snapshots.ts';

const LARGER = { requests: { storage: '128Mi' } };

/**
 * The story of KEP-3294 from the first claim to the last deletion, on real loop devices. The daemon
 * is a process that kills itself at an effect. daemon/claim-crash.test.ts runs in memory, with
 * concurrent changes by users.
 */
describeAsRoot('a claim, its snapshot, and a restore', () => {
  const scene = crashScene(
    async (folder) => {
      const cluster = await startClaimsCluster({ crossNamespace: true });
      const { client } = cluster;
      await createNode(client, 'n1');
      const directory = join(folder, 'volumes');
      await createClass(client, 'fast', directory, 'ext4', { allowVolumeExpansion: true });
      await createSnapshotClass(client, 'fast');
      const grant = fresh(grantNamed('to-test', { from: [FROM_CLAIMS], to: [TO_BACKUP] }));
      await client.create(REFERENCE_GRANTS, grant, { namespace: 'prod' });
      return cluster;
    },
    { nodes: ['n1'] },
  );
  let serial = 0;

  const live = (crash?: Crash) =>
    scene.live(crash, async ({ comes, stop }) => {
      const { client } = scene.cluster;
      const claims = claimsOf(client, { storageClassName: 'fast', size: '64Mi' });
      const count = async (resource: Resource) => (await client.list(resource, {})).items.length;
      const uids = new Set<string>();
      /** Waits until the claim's volume is completely reported. @returns its device */
      const isMade = (id: Id, mib: number) =>
        comes(`${id} has ${mib} MiB`, async () => {
          const { spec, status } = await claims.get(id);
          if (status?.phase !== 'Bound' || (status.conditions ?? []).length > 0) return undefined;
          if (!/^(67108864|64Mi|134217728|128Mi)$/.test(status.capacity?.storage ?? ''))
            return undefined;
          const volume = await client.get<Volume>(VOLUMES, spec.volumeName ?? '');
          if (volume.status?.phase !== 'Available') return undefined;
          const device = `/dev/disk/by-id/stowage-${volume.metadata.uid}`;
          const { stdout } = await execa('blockdev', ['--getsize64', device], { reject: false });
          if (stdout !== String(mib << 20)) return undefined;
          uids.add(volume.metadata.uid ?? '');
          return device;
        });
      const write = (device: string, text: string) =>
        scene.mounted(device, (path) => writeFile(join(path, 'data'), text));
      const read = (device: string) =>
        scene.mounted(device, (path) => readFile(join(path, 'data'), 'utf8'));

      const written = `of story ${++serial}`;
      await claims.create('prod/foo');
      await write(await isMade('prod/foo', 64), written);
      const larger = { spec: { resources: LARGER } };
      await client.patch(PERSISTENT_VOLUME_CLAIMS, 'foo', larger, { namespace: 'prod' });
      const device = await isMade('prod/foo', 128);

      await claims.createSnapshot('prod/foo-backup', 'foo', 'fast');
      await comes('the snapshot is ready', async () =>
        (await claims.snapshot('prod/foo-backup')).status?.readyToUse ? true : undefined,
      );
      await write(device, 'later');

      await claims.create('test/foo-testing', { dataSourceRef: TO_SNAPSHOT, resources: LARGER });
      const dataSource = { kind: 'PersistentVolumeClaim', name: 'foo' };
      await claims.create('prod/clone', { dataSource, resources: LARGER });
      expect(await read(await isMade('test/foo-testing', 128))).toBe(written);
      expect(await read(await isMade('prod/clone', 128))).toBe('later');
      for (const resource of [VOLUMES, PERSISTENT_VOLUMES]) expect(await count(resource)).toBe(3);
      expect(await count(VOLUME_SNAPSHOT_CONTENTS)).toBe(1);

      await claims.remove('prod/foo');
      await claims.removeSnapshot('prod/foo-backup');
      await claims.remove('test/foo-testing');
      await claims.remove('prod/clone');
      await comes('no object is left', async () => {
        const kinds = [
          VOLUMES,
          PERSISTENT_VOLUMES,
          PERSISTENT_VOLUME_CLAIMS,
          VOLUME_SNAPSHOT_CONTENTS,
        ];
        for (const resource of [...kinds, VOLUME_SNAPSHOTS])
          if ((await count(resource)) > 0) return undefined;
        return true;
      });
      await stop();
      const directories = ['volumes', 'volumes/snapshots'].map((name) => join(scene.folder, name));
      const left = await leftovers({ uids: [...uids], directories, client });
      expect(left.filter((each) => !each.endsWith('/volumes/snapshots is left'))).toEqual([]);
      expect(uids.size).toBe(3);
    });

  test('converges after a crash at every (24th) effect', () => crashAtEach(24, live), 3_600_000);
});
