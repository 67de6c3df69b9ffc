import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { ARCHIVES } from '../../src/api/builtins/archive.ts';
import { BACKUPS, type Backup } from '../../src/api/builtins/backup.ts';
import type { PersistentVolumeClaim, Pod } from '../../src/api/core.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume, VolumeSpec } from '../../src/api/volume.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import {
  claimsOf,
  createClass,
  createNode,
  createSnapshotClass,
} from '../support/claim-objects.ts';
import { type ClaimsCluster, startClaimsCluster } from '../support/claims-cluster.ts';
import { LOCAL_CLASS } from '../support/cluster.ts';
import { type Disk, makeDisk } from '../support/disks.ts';
import { type OwnFileSystem, ownFileSystem } from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { FROM_CLAIMS, fresh, grantNamed, TO_BACKUP, TO_SNAPSHOT } from '../support/snapshots.ts';
import { allowSources } from '../support/source-server.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

/**
 * Last version before files and functions got their current names. Each version reads the other's
 * records.
 */
const PREVIOUS = '535f9e2';
const MIB = 1n << 20n;
/** Number of jobs in progress when the daemon is killed. */
const UNDER_WAY = 4;

const IN_PROD = { namespace: 'prod' };
const KINDS: readonly Resource[] = [
  ...[VOLUMES, PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS],
  ...[VOLUME_SNAPSHOTS, VOLUME_SNAPSHOT_CONTENTS, BACKUPS],
];

/**
 * Twenty concurrent operations of every kind, on real loop devices. The daemon is killed while
 * their jobs run, and one of the other version continues. vm/upgrade tests logical volumes, and a
 * pod that uses an earlier daemon's volume.
 */
describeAsRoot('a daemon killed during twenty operations', () => {
  let stopUdev: () => Promise<void>;
  let disk: OwnFileSystem;
  let cluster: ClaimsCluster;
  let notAllowed: () => Promise<void>;
  let previous = '';
  let raw: Disk;
  let daemon: ReturnType<typeof run> | undefined;

  beforeAll(async () => {
    const { stdout } = await execa('node', ['scripts/build-previous.mjs', PREVIOUS]);
    previous = `${stdout}/bin/stowage`;
    stopUdev = await ensureUdev();
    disk = await ownFileSystem('xfs', 6n << 30n);
    for (const name of ['volumes', 'archives', 'backups', 'mnt'])
      await execa('install', ['-d', '-m', '0755', join(disk.path, name)]);
    notAllowed = await allowSources(`path ${disk.path}/archives`, `backups ${disk.path}/backups`);
    await execa('tar', ['-cf', join(disk.path, 'archives', 'a.tar'), '-C', 'docs', '.']);
    cluster = await startClaimsCluster({ crossNamespace: true });
    const { client } = cluster;
    await createNode(client, 'n1');
    await client.create(STORAGE_CLASSES, LOCAL_CLASS);
    const directory = join(disk.path, 'volumes');
    await createClass(client, 'fast', directory, 'ext4', { allowVolumeExpansion: true });
    await createSnapshotClass(client, 'fast');
    const grant = grantNamed('to-test', { from: [FROM_CLAIMS], to: [TO_BACKUP] });
    await client.create(REFERENCE_GRANTS, fresh(grant), IN_PROD);
    const register = ['register', 'populator', 'archive', '--node', 'Archive'];
    expect((await cluster.stowage(register)).code).toBe(0);
  }, 1_800_000);
  afterAll(async () => {
    daemon?.kill('SIGKILL');
    await daemon;
    await cluster?.stop();
    await notAllowed?.();
    await detachAll();
    await disk?.remove();
    await stopUdev?.();
  });

  /** Detaches all loop devices, also those of a failed test. */
  async function detachAll(): Promise<void> {
    const { stdout } = await execa('losetup', ['-n', '-O', 'NAME,BACK-FILE']);
    for (const line of stdout.split('\n')) {
      const [name = '', file = ''] = line.trim().split(/\s+/);
      if (file.startsWith(`${disk?.path}/`))
        await execa('losetup', ['-d', name], { reject: false });
    }
  }
  function run(program: string) {
    const flags = ['--transport', 'local', '--local-node', 'n1'];
    const gates = ['--feature-gates', 'CrossNamespaceVolumeDataSource=true'];
    return execa(program, ['watch', ...flags, ...gates], {
      env: { KUBECONFIG: cluster.kubeconfig },
      reject: false,
    });
  }
  const start = (program: string): void => {
    daemon = run(program);
  };
  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    daemon?.kill(signal);
    await daemon;
    daemon = undefined;
  }

  const volume = (name: string) => cluster.client.get<Volume>(VOLUMES, name);
  const makeVolume = (name: string, spec: Partial<VolumeSpec> = {}) => {
    const sparse = { size: '64Mi', directory: join(disk.path, 'volumes') };
    const isRaw = spec.rawBlockDevice !== undefined;
    return cluster.client.create<Volume>(VOLUMES, {
      apiVersion: apiVersionOf(VOLUMES),
      kind: VOLUMES.kind,
      metadata: { name },
      spec: {
        ...{ nodeName: 'n1', storageClassName: 'local' },
        ...(isRaw ? {} : { sparseLoopDevice: sparse }),
        ...spec,
      },
    });
  };
  const isAvailable = (name: string) =>
    until(`Volume ${name} is Available`, async () => {
      const { status } = await volume(name);
      return status?.phase === 'Available' ? status : undefined;
    });
  const isGone = (resource: Resource, name: string, options = {}) =>
    until(`${resource.kind} ${name} is gone`, () =>
      cluster.client.get(resource, name, options).then(
        () => undefined,
        (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
      ),
    );
  const attachedTo = async (name: string) =>
    ((await volume(name)).status?.attachments ?? []).map(({ state }) => state).join();

  const claims = () => claimsOf(cluster.client, { storageClassName: 'fast', size: '64Mi' });
  /** Creates a claim for the Volume of that name in the namespace prod. */
  const bind = async (name: string) => {
    await claims().create(`prod/${name}`, { volumeName: name, storageClassName: 'local' });
    await claims().isBound(`prod/${name}`);
  };
  const makePod = (name: string, claimName: string) =>
    cluster.client.create<Pod>(
      PODS,
      {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'prod' } },
        spec: {
          nodeName: 'n1',
          containers: [{ name: 'c', image: 'x' }],
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
        },
      } as Pod,
      IN_PROD,
    );
  const make = (resource: Resource, name: string, spec: object) =>
    cluster.client.create<KubeObject>(
      resource,
      {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        metadata: { name },
        spec,
      } as never,
      IN_PROD,
    );

  /** Mounts the device of a Volume, and passes the path of its data file to `act`. */
  async function mounted<T>(name: string, act: (file: string) => Promise<T>): Promise<T> {
    const path = join(disk.path, 'mnt');
    await execa('mount', [(await volume(name)).status?.devicePath ?? '', path]);
    try {
      return await act(join(path, 'data'));
    } finally {
      await execa('umount', [path]);
    }
  }
  const write = (name: string, text: string) => mounted(name, (file) => writeFile(file, text));
  const read = (name: string) => mounted(name, (file) => readFile(file, 'utf8'));
  const volumeOf = async (id: `${string}/${string}`) => (await claims().isBound(id)).metadata.name;

  /** Creates the objects that exist before the operations. */
  async function prepare(): Promise<void> {
    raw = await makeDisk(disk.path, 'raw', 304n * MIB);
    await Promise.all([
      makeVolume('deleted'),
      makeVolume('wiped', { onDelete: 'Wipe' }),
      makeVolume('kept', { onDelete: 'Retain' }),
      makeVolume('grows'),
      makeVolume('attaches', { attachPolicy: 'OnDemand' }),
      makeVolume('detaches', { attachPolicy: 'OnDemand' }),
      claims().create('prod/foo'),
      claims().create('prod/old'),
      claims().create('prod/larger'),
    ]);
    for (const name of ['deleted', 'wiped', 'kept', 'grows', 'attaches', 'detaches'])
      await isAvailable(name);
    await write(await volumeOf('prod/foo'), 'of foo');
    await write(await volumeOf('prod/larger'), 'of larger');
    await write('grows', 'of grows');
    for (const name of ['attaches', 'detaches']) await bind(name);
    await makePod('before', 'detaches');
    await until(
      'Volume detaches is attached',
      async () => (await attachedTo('detaches')) === 'Attached' || undefined,
    );
    await claims().createSnapshot('prod/foo-backup', 'foo', 'fast');
    await claims().createSnapshot('prod/old', 'old', 'fast');
    for (const name of ['foo-backup', 'old'] as const) await claims().isReady(`prod/${name}`);
  }

  /** Starts twenty operations concurrently. */
  async function operate(): Promise<void> {
    const { client } = cluster;
    const larger = { spec: { resources: { requests: { storage: '96Mi' } } } };
    const size = { spec: { sparseLoopDevice: { size: '96Mi' } } };
    const dataSource = { kind: 'PersistentVolumeClaim', name: 'foo' };
    const archive = { apiGroup: ARCHIVES.group, kind: ARCHIVES.kind, name: 'docs' };
    await make(ARCHIVES, 'docs', { source: { path: join(disk.path, 'archives', 'a.tar') } });
    await Promise.all([
      makeVolume('ext4'),
      makeVolume('large', {
        sparseLoopDevice: { size: '304Mi', directory: join(disk.path, 'volumes') },
      }),
      makeVolume('block', { mode: 'Block' }),
      makeVolume('on-demand', { attachPolicy: 'OnDemand' }),
      makeVolume('disk', { rawBlockDevice: { devicePath: raw.path }, onDelete: 'Delete' }),
      client.delete(VOLUMES, 'deleted'),
      client.delete(VOLUMES, 'wiped'),
      client.delete(VOLUMES, 'kept'),
      client.patch(VOLUMES, 'grows', size),
      client.patch(PERSISTENT_VOLUME_CLAIMS, 'larger', larger, IN_PROD),
      makePod('after', 'attaches'),
      client.delete(PODS, 'before', IN_PROD),
      claims().createSnapshot('prod/new', 'foo', 'fast'),
      claims().removeSnapshot('prod/old'),
      claims().create('prod/new'),
      claims().create('test/restored', { dataSourceRef: TO_SNAPSHOT }),
      claims().create('prod/clone', { dataSource }),
      claims().create('prod/filled', { dataSourceRef: archive }),
      make(BACKUPS, 'backup', {
        claimName: 'larger',
        to: { path: join(disk.path, 'backups', 'larger') },
      }),
      claims().remove('prod/old'),
    ]);
  }

  const jobs = async () =>
    (await execa('sh', ['-c', 'ls -d /run/stowage/jobs/*/* 2>/dev/null | wc -l'])).stdout;

  async function allAreDone(): Promise<void> {
    for (const name of ['ext4', 'large', 'block', 'on-demand', 'disk']) await isAvailable(name);
    for (const name of ['deleted', 'wiped', 'kept']) await isGone(VOLUMES, name);
    await until('Volume grows has grown', async () =>
      (await volume('grows')).status?.capacity === '96Mi' ? true : undefined,
    );
    expect(await read('grows')).toBe('of grows');
    await until('the claim has grown', async () => {
      const { status } = await claims().get('prod/larger');
      return /^(96Mi|100663296)$/.test(status?.capacity?.storage ?? '') || undefined;
    });
    expect(await read(await volumeOf('prod/larger'))).toBe('of larger');
    await until(
      'Volume attaches is attached',
      async () => (await attachedTo('attaches')) === 'Attached' || undefined,
    );
    await until('Volume detached', async () => (await attachedTo('detaches')) === '' || undefined);
    await claims().isReady('prod/new');
    await claims().isGone(VOLUME_SNAPSHOTS, 'prod/old');
    expect((await claims().isBound('prod/new')).status?.phase).toBe('Bound');
    for (const id of ['test/restored', 'prod/clone'] as const)
      expect(await read(await volumeOf(id))).toBe('of foo');
    expect(await readFiles(await volumeOf('prod/filled'))).toContain('design.md');
    await until('the Backup is Completed', async () => {
      const { status } = await cluster.client.get<Backup>(BACKUPS, 'backup', IN_PROD);
      return status?.phase === 'Completed' || undefined;
    });
    await claims().isGone(PERSISTENT_VOLUME_CLAIMS, 'prod/old');
  }

  async function readFiles(name: string): Promise<string> {
    return mounted(name, async (file) => (await execa('ls', [join(file, '..')])).stdout);
  }

  async function removeAll(): Promise<void> {
    const { client } = cluster;
    await client.delete(PODS, 'after', IN_PROD);
    await client.delete(BACKUPS, 'backup', IN_PROD);
    await client.delete(ARCHIVES, 'docs', IN_PROD);
    for (const resource of [VOLUME_SNAPSHOTS, PERSISTENT_VOLUME_CLAIMS]) {
      for (const { metadata } of (await client.list<PersistentVolumeClaim>(resource)).items)
        await client.delete(resource, metadata.name, { namespace: metadata.namespace });
    }
    for (const { metadata } of (await client.list(VOLUMES)).items)
      if (!metadata.name.startsWith('pvc-')) await client.delete(VOLUMES, metadata.name);
    for (const resource of KINDS)
      await until(`no ${resource.kind} is left`, async () => {
        const { items } = await client.list(resource);
        return items.length === 0 || undefined;
      });
    await until('no job is left', async () => (await jobs()) === '0' || undefined);
    await end('SIGTERM');
    await raw.remove();
    const { stdout } = await execa('losetup', ['-n', '-O', 'BACK-FILE']);
    expect(stdout.split('\n').filter((file) => file.includes(`${disk.path}/volumes`))).toEqual([]);
    await execa('rm', ['-rf', join(disk.path, 'backups', 'larger')]);
    await execa('sh', ['-c', `rm -f ${disk.path}/volumes/*-*`]);
  }

  test.each([
    ['of the previous version, after an upgrade', () => previous, () => 'bin/stowage'],
    ['of this version, after a downgrade', () => 'bin/stowage', () => previous],
  ])(
    'another version completes the operations of a daemon %s',
    async (_, first, second) => {
      start(first());
      await prepare();
      await operate();
      await until('jobs are under way', async () => Number(await jobs()) >= UNDER_WAY || undefined);
      await end('SIGKILL');
      start(second());
      await allAreDone();
      await removeAll();
    },
    1_800_000,
  );
});
