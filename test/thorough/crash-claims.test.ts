import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { KubeNode, PersistentVolumeClaim, StorageClass } from '../../src/api/core.ts';
import type { Resource } from '../../src/api/meta.ts';
import { SNAPSHOT_GROUP } from '../../src/api/names.ts';
import {
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { ReferenceGrant, VolumeSnapshot, VolumeSnapshotClass } from '../../src/api/snapshot.ts';
import type { Volume } from '../../src/api/volume.ts';
import { type ClaimsCluster, startClaimsCluster } from '../support/claims-cluster.ts';
import type { CrashingWatchOptions } from '../support/crashing-watch.ts';
import { bundleDaemon, type Daemon, type DaemonProgram } from '../support/daemon.ts';
import { leftovers } from '../support/leftovers.ts';
import { type OwnFileSystem, ownFileSystem } from '../support/loop-mounts.ts';
import { seedOf } from '../support/random.ts';
import { describeAsRoot } from '../support/root.ts';
import { fresh, grantNamed, TO_SNAPSHOT } from '../support/snapshots.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

/** `npm run test:faults` has the time for every effect, before and after it. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const WHEN = MANY ? (['before', 'after'] as const) : (['after'] as const);
const EACH = MANY ? 1 : 24;
/** The first of every 24th effect follows from it. */
const SEED = seedOf();
/**
 * The story of KEP-3294 from the first claim to the last deletion, on real loop devices: the daemon is a process, and kills itself at
 * an effect. In memory, and with what users do meanwhile, it is in daemon/claim-crash.test.ts.
 */
describeAsRoot('a claim, its snapshot, and a claim from that, killed at every effect', () => {
  let stopUdev: () => Promise<void>;
  let disk: OwnFileSystem;
  let cluster: ClaimsCluster;
  let kubeconfig: string;
  let program: DaemonProgram;
  let mount: string;
  let serial = 0;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    disk = await ownFileSystem('xfs', 2n << 30n);
    mount = join(disk.path, 'mnt');
    await mkdir(mount);
    cluster = await startClaimsCluster({ crossNamespace: true });
    const { client } = cluster;
    kubeconfig = cluster.kubeconfig;
    await client.create<KubeNode>(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    await client.patch(NODES, 'n1', { status }, { subresource: 'status' });
    await client.create<StorageClass>(STORAGE_CLASSES, {
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'fast' } },
      ...{ provisioner: 'volume.stowage.dev', volumeBindingMode: 'Immediate', allowVolumeExpansion: true },
      parameters: { directory: join(disk.path, 'volumes'), fsType: 'ext4' },
    });
    await client.create<VolumeSnapshotClass>(VOLUME_SNAPSHOT_CLASSES, {
      ...{
        apiVersion: 'snapshot.storage.k8s.io/v1',
        kind: 'VolumeSnapshotClass',
        metadata: { name: 'fast' },
      },
      ...{ driver: 'volume.stowage.dev', deletionPolicy: 'Delete' },
    });
    const spec = {
      from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: 'test' }],
      to: [{ group: SNAPSHOT_GROUP, kind: 'VolumeSnapshot' }],
    };
    await client.create<ReferenceGrant>(REFERENCE_GRANTS, fresh(grantNamed('to-test', spec)), {
      namespace: 'prod',
    });
    program = await bundleDaemon();
  });
  afterAll(async () => {
    await program?.remove();
    await cluster?.stop();
    await disk?.remove();
    await stopUdev?.();
  });

  /** What is done while the device of a claim is mounted. */
  async function mounted<T>(device: string, act: () => Promise<T>): Promise<T> {
    await execa('mount', [device, mount]);
    try {
      return await act();
    } finally {
      await execa('umount', [mount]);
    }
  }

  /** The whole story. @returns the effects of the daemon that ran first */
  async function live(effect = 0, when: CrashingWatchOptions['when'] = 'before'): Promise<string[]> {
    const { client } = cluster;
    const log = join(disk.path, `effects-${++serial}`);
    const options: CrashingWatchOptions = {
      ...{ kubeconfig, transport: 'local', nodes: ['n1'], log, effect, when },
    };
    let daemon: Daemon = program.start(options);
    /** One that was killed is followed by one that does not crash. */
    const comes = <T>(what: string, look: () => Promise<T | undefined>): Promise<T> =>
      until(what, async () => {
        if (daemon.process.exitCode !== null || daemon.process.signalCode !== null) {
          expect(await daemon.ended).toBe('SIGKILL');
          daemon = program.start({ ...options, effect: 0 });
        }
        return look();
      });
    const count = async (resource: Resource) => (await client.list(resource, {})).items.length;
    const createClaim = (
      namespace: string,
      name: string,
      more: Partial<PersistentVolumeClaim['spec']> = {},
    ) =>
      client.create<PersistentVolumeClaim>(
        PERSISTENT_VOLUME_CLAIMS,
        {
          ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, namespace } },
          spec: {
            ...{ accessModes: ['ReadWriteOnce'], storageClassName: 'fast' },
            resources: { requests: { storage: '64Mi' } },
            ...more,
          },
        },
        { namespace },
      );
    const uids: string[] = [];
    /** The UID of its Volume, once all of it is told. */
    const isMade = (namespace: string, name: string, bytes: number) =>
      comes(`${namespace}/${name} has ${bytes} bytes`, async () => {
        const claim = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, { namespace });
        if (claim.status?.phase !== 'Bound' || (claim.status.conditions ?? []).length > 0) return undefined;
        if (!/^(67108864|64Mi|134217728|128Mi)$/.test(claim.status.capacity?.storage ?? '')) return undefined;
        const volume = await client.get<Volume>(VOLUMES, claim.spec.volumeName ?? '');
        if (volume.status?.phase !== 'Available') return undefined;
        const { uid = '' } = volume.metadata;
        const { stdout } = await execa('blockdev', ['--getsize64', `/dev/disk/by-uuid/${uid}`], {
          reject: false,
        });
        if (stdout !== String(bytes)) return undefined;
        if (!uids.includes(uid)) uids.push(uid);
        return `/dev/disk/by-uuid/${uid}`;
      });
    const remove = (resource: Resource, namespace: string, name: string) =>
      client.delete(resource, name, { namespace });
    const written = `of story ${serial}`;
    try {
      await createClaim('prod', 'foo');
      await mounted(await isMade('prod', 'foo', 64 << 20), () => writeFile(join(mount, 'data'), written));
      const storage = { spec: { resources: { requests: { storage: '128Mi' } } } };
      await client.patch(PERSISTENT_VOLUME_CLAIMS, 'foo', storage, { namespace: 'prod' });
      const device = await isMade('prod', 'foo', 128 << 20);

      await client.create<VolumeSnapshot>(
        VOLUME_SNAPSHOTS,
        {
          apiVersion: 'snapshot.storage.k8s.io/v1',
          ...{ kind: 'VolumeSnapshot', metadata: { name: 'foo-backup', namespace: 'prod' } },
          spec: { source: { persistentVolumeClaimName: 'foo' }, volumeSnapshotClassName: 'fast' },
        },
        { namespace: 'prod' },
      );
      await comes('the snapshot is ready', async () => {
        const found = await client.get<VolumeSnapshot>(VOLUME_SNAPSHOTS, 'foo-backup', { namespace: 'prod' });
        return found.status?.readyToUse ? true : undefined;
      });
      await mounted(device, () => writeFile(join(mount, 'data'), 'later'));

      const resources = { requests: { storage: '128Mi' } };
      await createClaim('test', 'foo-testing', { dataSourceRef: TO_SNAPSHOT, resources });
      await createClaim('prod', 'clone', {
        ...{ dataSource: { kind: 'PersistentVolumeClaim', name: 'foo' }, resources },
      });
      const read = () => readFile(join(mount, 'data'), 'utf8');
      const restored = await isMade('test', 'foo-testing', 128 << 20);
      expect(await mounted(restored, read)).toBe(written);
      expect(await mounted(await isMade('prod', 'clone', 128 << 20), read)).toBe('later');
      for (const resource of [VOLUMES, PERSISTENT_VOLUMES]) expect(await count(resource)).toBe(3);
      expect(await count(VOLUME_SNAPSHOT_CONTENTS)).toBe(1);

      await remove(PERSISTENT_VOLUME_CLAIMS, 'prod', 'foo');
      await remove(VOLUME_SNAPSHOTS, 'prod', 'foo-backup');
      await remove(PERSISTENT_VOLUME_CLAIMS, 'test', 'foo-testing');
      await remove(PERSISTENT_VOLUME_CLAIMS, 'prod', 'clone');
      const kinds = [VOLUMES, PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS, VOLUME_SNAPSHOT_CONTENTS];
      const all: Resource[] = [...kinds, VOLUME_SNAPSHOTS];
      await comes('no object is left', async () => {
        for (const resource of all) if ((await count(resource)) > 0) return undefined;
        return true;
      });
      await daemon.stop();
      const directories = ['volumes', 'volumes/snapshots'].map((name) => join(disk.path, name));
      const left = await leftovers({ uids, directories, client });
      expect(left.filter((each) => !each.endsWith('/volumes/snapshots is left'))).toEqual([]);
      expect(uids).toHaveLength(3);
    } finally {
      daemon.process.kill('SIGKILL');
      await daemon.ended;
    }
    return (await readFile(log, 'utf8')).trim().split('\n');
  }

  test(`${WHEN.join(' and ')} ${MANY ? 'each' : 'every 24th'} one`, async () => {
    const effects = await live();
    for (const when of WHEN) {
      for (let effect = 1 + (SEED % EACH); effect <= effects.length; effect += EACH) {
        try {
          await live(effect, when);
        } catch (cause) {
          const where = `seed ${SEED}, ${when} effect ${effect}, ${effects[effect - 1]}`;
          throw new Error(`${where}: ${(cause as Error).message}`, { cause });
        }
      }
    }
    console.info(`killed at ${MANY ? '' : 'every 24th of '}${effects.length}: ${effects.join(' ')}`);
  }, 3_600_000);
});
