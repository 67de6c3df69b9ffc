import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { CsiStorageCapacity, KubeEvent } from '../../src/api/core.ts';
import {
  CSI_STORAGE_CAPACITIES,
  EVENTS,
  PERSISTENT_VOLUME_CLAIMS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { Step } from '../../src/nodes/job.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { directoryRecord, recordDirectory } from '../../src/storage/directory/directory-record.ts';
import type { ObservedDirectory } from '../../src/storage/directory/types.ts';
import { directoryPartial } from '../../src/storage/records.ts';
import {
  claimsOf,
  createClass,
  createNode,
  createSnapshotClass,
} from '../support/claim-objects.ts';
import { type ClaimsCluster, startClaimsCluster } from '../support/claims-cluster.ts';
import { startController, type TestController } from '../support/controller.ts';
import { loopsBelow } from '../support/device-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

/**
 * A directory on a real ext4 that is mounted and unmounted. The node is this machine, and a test
 * simulates its shutdown.
 */
describeAsRoot('a directory of volumes on a file system of its own', () => {
  const executor = createShellExecutor(createLocalShell(['n1']));
  let stopUdev: () => Promise<void>;
  /** On the root file system: /tmp may be on another one. */
  let folder: string;
  let point: string;
  let directory: string;
  let cluster: ClaimsCluster;
  let claims: ReturnType<typeof claimsOf>;
  let controller: TestController | undefined;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
  });
  afterAll(() => stopUdev?.());
  beforeEach(async () => {
    folder = await mkdtemp('/stowage-directory-');
    point = join(folder, 'data');
    directory = join(point, 'volumes');
    await mkdir(point);
    await makeDisk('disk');
    cluster = await startClaimsCluster({});
    claims = claimsOf(cluster.client, { storageClassName: 'data', size: '16Mi' });
    await createNode(cluster.client, 'n1');
    await boot('disk');
  });
  afterEach(async () => {
    await halt();
    await cluster?.stop();
    await rm(directoryRecord(directory), { force: true });
    await rm(folder, { recursive: true });
  });

  async function makeDisk(name: string): Promise<void> {
    await writeFile(join(folder, name), '');
    await truncate(join(folder, name), 256 << 20);
    await execa('mkfs.ext4', ['-q', join(folder, name)]);
  }
  const mount = (disk: string) => execa('mount', ['-o', 'loop', join(folder, disk), point]);
  const uuidOf = async (disk: string) =>
    (await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', join(folder, disk)])).stdout;

  /**
   * Starts the node and its daemon. Without a disk, its file system stays unmounted, as with
   * `nofail`.
   */
  async function boot(disk?: string): Promise<void> {
    if (disk !== undefined) await mount(disk);
    controller = await startController(cluster.client, {
      executor,
      retry: { startMs: 200, maxMs: 1000 },
      provisioning: { namespace: 'default', crossNamespace: false, snapshotController: 'builtin' },
    });
  }

  async function halt(): Promise<void> {
    await controller?.stop();
    controller = undefined;
    for (const device of await loopsBelow(folder)) {
      if (!(await isDisk(device))) await execa('losetup', ['-d', device]);
    }
    await until('the directory is unmounted', async () =>
      (await execa('umount', [point], { reject: false })).exitCode !== 0 &&
      (await execa('mountpoint', ['-q', point], { reject: false })).exitCode !== 0
        ? true
        : undefined,
    );
  }
  const isDisk = async (device: string) =>
    !(await execa('losetup', ['-n', '-O', 'BACK-FILE', device])).stdout.includes(`${point}/`);

  const readyOf = ({ status }: Volume) => status?.conditions?.find(({ type }) => type === 'Ready');
  const isReady = (name: string, reason: string): Promise<Volume> =>
    until(`${name} is ${reason}`, async () => {
      const volume = await cluster.client.get<Volume>(VOLUMES, name);
      return readyOf(volume)?.reason === reason ? volume : undefined;
    });
  const volumeOf = async (claim: `${string}/${string}`) =>
    `pvc-${(await claims.get(claim)).metadata.uid}`;
  const createVolume = (name: string, more: object = {}) =>
    cluster.client.create<Volume>(VOLUMES, {
      apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
      kind: 'Volume',
      metadata: { name },
      spec: {
        nodeName: 'n1',
        storageClassName: 'data',
        attachPolicy: 'OnDemand',
        // Too small for a claim, which would otherwise be bound to it.
        sparseLoopDevice: { size: '8Mi', directory, ...more },
      },
    });
  const filesIn = async (path: string) =>
    (await readdir(path, { withFileTypes: true })).flatMap((each) =>
      each.isFile() ? [each.name] : [],
    );
  const record = async () => JSON.parse(await readFile(directoryRecord(directory), 'utf8'));
  const hasRoom = (is: (bytes: bigint) => boolean) =>
    until('the storage capacity is published', async () => {
      const { items } = await cluster.client.list<CsiStorageCapacity>(CSI_STORAGE_CAPACITIES, {
        namespace: 'default',
      });
      const told = items.find(({ storageClassName }) => storageClassName === 'data')?.capacity;
      return told !== undefined && is(BigInt(told)) ? true : undefined;
    });

  test('is recorded by only one of two concurrent first volumes', async () => {
    const recordBy = (uid: string) => {
      const now = { type: 'ext4', source: '/dev/vda', path: '/data', uuid: uid };
      const observed: Partial<ObservedDirectory> = { directory, now };
      return recordDirectory(uid, observed as ObservedDirectory);
    };
    const run = async (subject: string, steps: readonly Step[]) =>
      (await executor.submit('n1', { key: { subject, id: 'record' }, steps }, 30_000)).state;
    const [first, second] = [randomUUID(), randomUUID()];
    const steps = recordBy(first);
    const rename = steps.findIndex(({ argv }) => argv[0] === 'mv');
    expect(await run(randomUUID(), steps.slice(0, rename))).toBe('succeeded');
    expect(await run(randomUUID(), recordBy(second))).toBe('succeeded');
    // mv(1) skips an existing file, and fails from coreutils 9.2 on.
    const late = steps.slice(rename);
    expect(await run(randomUUID(), late)).toMatch(/^(succeeded|raced)$/);
    expect(JSON.parse(await readFile(directoryRecord(directory), 'utf8'))).toMatchObject({
      uuid: second,
    });
    // Its own file no longer exists then.
    await rm(directoryPartial(first), { force: true });
    expect(await run(randomUUID(), late)).toBe('raced');
  });

  test('gets no data while unmounted, loses nothing, and resumes once mounted', async () => {
    await createClass(cluster.client, 'data', directory, 'ext4');
    await createSnapshotClass(cluster.client, 'data');
    await claims.create('prod/first');
    await claims.create('prod/gone');
    await claims.isBound('prod/first');
    await claims.isBound('prod/gone');
    await claims.createSnapshot('prod/copy', 'first');
    await claims.isReady('prod/copy');
    expect(await record()).toMatchObject({
      uuid: await uuidOf('disk'),
      type: 'ext4',
      path: '/volumes',
    });
    await hasRoom((bytes) => bytes > 0n);

    await halt();
    await boot();
    const first = await isReady(await volumeOf('prod/first'), 'DirectoryNotMounted');
    expect(readyOf(first)).toMatchObject({ status: 'False' });
    expect(readyOf(first)?.message).toContain(`/volumes on ext4 ${await uuidOf('disk')}`);
    await claims.create('prod/second');
    await claims.isTold(
      'prod/second',
      `node n1 has no available capacity: the file system of … is not mounted`,
    );
    await hasRoom((bytes) => bytes === 0n);
    await createVolume('by-hand');
    expect(readyOf(await isReady('by-hand', 'DirectoryNotMounted'))).toMatchObject({
      status: 'Unknown',
    });
    const gone = await volumeOf('prod/gone');
    await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, 'gone', { namespace: 'prod' });
    await until('the deletion of a Volume waits', async () => {
      const { status } = await cluster.client.get<Volume>(VOLUMES, gone);
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return status?.phase === 'Terminating' && ready?.reason === 'DirectoryNotMounted'
        ? true
        : undefined;
    });
    await cluster.client.delete(VOLUME_SNAPSHOTS, 'copy', { namespace: 'prod' });
    await until(
      'the deletion of the copy waits, too',
      async () =>
        (await cluster.client.list<KubeEvent>(EVENTS)).items.some(
          ({ reason, message }) =>
            reason === 'SnapshotDeleteError' && message?.includes('is not mounted'),
        ) || undefined,
    );
    for (const [kind, name] of [
      ['volume', 'by-hand'],
      ['pvc', 'prod/first'],
      ['pvc', 'prod/second'],
    ] as const) {
      const { out, err } = await cluster.stowage(['why', kind, name, '-o', 'json']);
      expect([name, err, JSON.parse(out || '{}').cause]).toEqual([name, '', 'DirectoryNotMounted']);
    }
    const { out, code } = await cluster.stowage(['check', 'node', 'n1'], { executor });
    expect([code, out]).toEqual([
      5,
      expect.stringContaining(`the file system of ${directory} is not mounted`),
    ]);
    expect(await readdir(point)).toEqual([]);

    await mount('disk');
    expect(await filesIn(directory)).toHaveLength(2);
    expect(await readdir(join(directory, 'snapshots'))).toHaveLength(1);
    await isReady(await volumeOf('prod/first'), 'Available');
    await claims.isBound('prod/second');
    await isReady('by-hand', 'Available');
    await claims.isGone(VOLUME_SNAPSHOTS, 'prod/copy');
    await until('all deleted files are gone', async () =>
      (await filesIn(directory)).length === 3 &&
      (await readdir(join(directory, 'snapshots'))).length === 0
        ? true
        : undefined,
    );
    await hasRoom((bytes) => bytes > 0n);
    // The directory is checked every 30 s, and its capacity every minute.
  }, 300_000);

  test('with requireMount gets no first volume while unmounted', async () => {
    const parameters = { directory, fsType: 'ext4', requireMount: 'true' };
    await createClass(cluster.client, 'data', directory, 'ext4', { parameters });
    await halt();
    await boot();
    await claims.create('prod/first');
    await claims.isTold('prod/first', '… is on the root file system, and requireMount is set');
    await createVolume('by-hand', { requireMount: true });
    await isReady('by-hand', 'DirectoryNotMounted');
    expect(await readdir(point)).toEqual([]);
    await mount('disk');
    await claims.isBound('prod/first');
    await isReady('by-hand', 'Available');
    expect(await filesIn(directory)).toHaveLength(2);
  });

  test('is refused with another file system mounted until its record is removed', async () => {
    await createClass(cluster.client, 'data', directory, 'ext4');
    await createVolume('old');
    await isReady('old', 'Available');
    await halt();
    await makeDisk('other');
    await boot('other');
    await createVolume('new');
    const refused = readyOf(await isReady('new', 'DirectoryNotMounted'))?.message ?? '';
    expect(refused).toContain(await uuidOf('disk'));
    expect(refused).toContain(await uuidOf('other'));
    const command = /remove the record on the node: (rm .*)$/.exec(refused)?.[1]?.split(' ') ?? [];
    await execa(command[0] ?? '', command.slice(1));
    await isReady('new', 'Available');
    expect(await record()).toMatchObject({ uuid: await uuidOf('other') });
    await isReady('old', 'UnavailableError');
    await halt();
    await boot('disk');
    await isReady('old', 'Available');
    await isReady('new', 'DirectoryNotMounted');
  });

  test('with volumes but no record is recorded when one is observed intact', async () => {
    await createClass(cluster.client, 'data', directory, 'ext4');
    await createVolume('old');
    await isReady('old', 'Available');
    await controller?.stop();
    await rm(directoryRecord(directory));
    await boot();
    await until('the directory is recorded', () => record().catch(() => undefined));
    expect(await record()).toMatchObject({ uuid: await uuidOf('disk') });
  });
});
