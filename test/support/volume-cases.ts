import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { PersistentVolume } from '../../src/api/core.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { startCluster, type TestCluster } from './cluster.ts';
import { udevRests } from './kind-cases.ts';
import { BACKINGS, type Backing, CONTENTS, type Content, type Kinds, setUpKinds } from './kinds.ts';
import { EVERY_CASE } from './lane.ts';
import { removeTraces } from './remove-traces.ts';
import { describeAsRoot } from './root.ts';
import { sha256 } from './signatures.ts';
import { until } from './until.ts';

const STOWAGE = 'bin/stowage';
const MIB = 1n << 20n;

const startWatch = (flags: readonly string[], kubeconfig: string) =>
  execa(STOWAGE, ['watch', ...flags], { env: { KUBECONFIG: kubeconfig }, reject: false });

/** Access to this machine as node n1, for one file of tests. */
export interface NodeTransport {
  /** Flags of `stowage watch`. */
  flags: readonly string[];
  stop(): Promise<void>;
}

/** Declares the tests of every kind of volume, by CLI and daemon, over a transport. */
export function volumeCases(name: string, start: (kinds: Kinds) => Promise<NodeTransport>): void {
  describeAsRoot(`Volumes of every kind, with the CLI and the daemon, over ${name}`, () => {
    let cluster: TestCluster;
    let kinds: Kinds;
    let transport: NodeTransport;
    let watch: ReturnType<typeof startWatch>;
    const uids: string[] = [];
    let count = 0;

    beforeAll(async () => {
      kinds = await setUpKinds();
      transport = await start(kinds);
      cluster = await startCluster({ nodes: ['n1'] });
      await stowage('create', 'storageclass', 'xfs', '--static', '--fs-type', 'xfs');
      watch = startWatch(transport.flags, cluster.kubeconfig);
    });
    afterEach(async () => {
      for (const uid of uids.splice(0)) await removeTraces(uid, `${kinds.folder}/${uid}`);
      await kinds.clean();
    });
    afterAll(async () => {
      watch?.kill('SIGTERM');
      const ended = await watch;
      await cluster?.stop();
      await transport?.stop();
      await kinds?.stop();
      expect(ended?.exitCode).toBe(0);
    });

    const stowage = (...args: string[]) =>
      execa(STOWAGE, args, { env: { KUBECONFIG: cluster.kubeconfig }, reject: false });
    const get = (name: string) => cluster.client.get<Volume>(VOLUMES, name);
    const pvNamed = (name: string) =>
      cluster.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
    const patch = (name: string, spec: object) =>
      cluster.client.patch<Volume>(VOLUMES, name, { spec });
    const newName = () => `v${++count}`;
    const exists = async (path: string) =>
      (await execa('test', ['-e', path], { reject: false })).exitCode === 0;

    const readyOf = (volume: Volume) =>
      volume.status?.conditions?.find(({ type }) => type === 'Ready');
    const ready = (name: string, status: string) =>
      until(`${name} Ready=${status}`, async () => {
        const volume = await get(name);
        return readyOf(volume)?.status === status ? volume : undefined;
      });

    /** Returns the flags that select the storage, with a new device if the backing needs one. */
    async function flagsOf(
      backing: Backing,
      content: Content,
    ): Promise<{ flags: string[]; device?: string }> {
      const common = ['--node', 'n1', '--storage-class', content === 'xfs' ? 'xfs' : 'local'];
      if (content === 'Block') common.push('--mode', 'Block');
      if (backing === 'sparse file')
        return { flags: [...common, '--size', '304Mi', '--directory', kinds.folder] };
      const disk = await kinds.disk(
        backing === 'disk' ? 304n * MIB : 640n * MIB,
        backing === 'disk' ? 'none' : 'gpt',
      );
      const device = backing === 'disk' ? disk.path : disk.partition;
      return { flags: [...common, '--device', device], device };
    }

    async function create(flags: string[], name = newName()): Promise<Volume> {
      const { exitCode, stderr } = await stowage(
        'create',
        'volume',
        name,
        ...flags,
        '--wait',
        '--timeout',
        '120s',
      );
      if (exitCode !== 0)
        throw new Error(`create volume ${name} ended with ${exitCode}: ${stderr}`);
      const volume = await get(name);
      uids.push(volume.metadata.uid ?? '');
      return volume;
    }

    // `npm run test:faults` has enough time for all 27 cases. `npm run test:all` runs each pair of
    // two of the three parameters, and `npm test` each value once.
    const all = process.env.STOWAGE_FAULTS !== undefined;
    const pairs = (b: number, c: number, d: number) =>
      (b + c + d) % 3 === 0 && (EVERY_CASE || b === c);
    const cases = BACKINGS.flatMap((backing, b) =>
      CONTENTS.flatMap((content, c) =>
        (['Delete', 'Retain', 'Wipe'] as const).flatMap((onDelete, d) =>
          all || pairs(b, c, d) ? [[backing, content, onDelete] as const] : [],
        ),
      ),
    );
    test.each(cases)(
      '%s with %s becomes Available, and is deleted with onDelete %s',
      async (backing, content, onDelete) => {
        const { flags, device } = await flagsOf(backing, content);
        const volume = await create([...flags, '--on-delete', onDelete]);
        const { name, uid = '' } = volume.metadata;
        const link = `/dev/disk/by-id/stowage-${uid}`;
        expect(volume.status).toMatchObject({ phase: 'Available', devicePath: link });
        await udevRests();
        expect((await execa('realpath', [link])).stdout).toBe(`/dev/${volume.status?.deviceName}`);
        if (backing === 'sparse file') expect(volume.status?.capacity).toBe('304Mi');
        expect((await pvNamed(name)).spec).toMatchObject({
          volumeMode: content === 'Block' ? 'Block' : 'Filesystem',
          capacity: { storage: volume.status?.capacity },
          local: content === 'Block' ? { path: link } : { path: link, fsType: content },
        });

        await kinds.write({ mode: content === 'Block' ? 'Block' : 'Filesystem' }, link, 'kept');
        const deleted = await stowage('delete', 'volume', name, '--wait', '--timeout', '120s');
        // With standard error, which says why a deletion timed out.
        const { exitCode, stderr } = deleted;
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr });
        expect(await exists(`/var/lib/stowage/volumes/${uid}.intent`)).toBe(false);
        const file = `${kinds.folder}/${uid}`;
        if (device === undefined) expect(await exists(file)).toBe(onDelete === 'Retain');
        else {
          const size = (await execa('blockdev', ['--getsize64', device])).stdout;
          const zero = await execa('cmp', [`--bytes=${size}`, device, '/dev/zero'], {
            reject: false,
          });
          expect(zero.exitCode === 0).toBe(onDelete === 'Wipe');
        }
        expect(await exists(link)).toBe(false);
        if (onDelete === 'Retain') await rm(file, { force: true });
      },
    );

    test('a device with content is refused with a hint, and provisioned with the consent in the hint', async () => {
      const { path } = await kinds.disk();
      await execa('mkfs.ext4', ['-q', '-F', path]);
      const before = await sha256(path);
      const flags = ['--node', 'n1', '--storage-class', 'local', '--device', path];
      const name = newName();
      const refused = await stowage('create', 'volume', name, ...flags, '--wait');
      expect(refused.exitCode).toBe(1);
      const overwrite = /set spec\.overwrite \(--overwrite\) to "([^"]+)"/.exec(
        refused.stderr,
      )?.[1];
      expect(overwrite).toMatch(/^ext4:/);
      expect(await sha256(path)).toBe(before);
      await patch(name, { overwrite });
      const volume = await ready(name, 'True');
      uids.push(volume.metadata.uid ?? '');
      expect((await stowage('delete', 'volume', name, '--wait')).exitCode).toBe(0);
    });

    test.each(EVERY_CASE ? CONTENTS : CONTENTS.slice(0, 1))(
      'a sparse volume with %s grows when its size is changed',
      async (content) => {
        const { flags } = await flagsOf('sparse file', content);
        const { metadata } = await create(flags);
        const { name } = metadata;
        await patch(name, { sparseLoopDevice: { size: '608Mi' } });
        await until('its new size', async () =>
          (await pvNamed(name)).spec.capacity.storage === '608Mi' ? true : undefined,
        );
        const volume = await get(name);
        expect(volume.status).toMatchObject({ phase: 'Available', capacity: '608Mi' });
        expect(
          (await execa('blockdev', ['--getsize64', volume.status?.devicePath ?? ''])).stdout,
        ).toBe(String(608n * MIB));
        expect((await stowage('delete', 'volume', name, '--wait')).exitCode).toBe(0);
      },
    );

    // This test takes two observation periods of the daemon.
    if (EVERY_CASE) {
      test('a missing disk and a disk with exchanged content are Ready=False, and are not provisioned again', async () => {
        // Other tests take the lowest free number, and not this one while the disk is gone.
        const gone = await kinds.disk(undefined, 'none', 400 + (process.pid % 400));
        const exchanged = await kinds.disk();
        const flags = [
          '--node',
          'n1',
          '--storage-class',
          'local',
          '--on-delete',
          'Delete',
          '--device',
        ];
        const [first, second] = [
          await create([...flags, gone.path]),
          await create([...flags, exchanged.path]),
        ];
        await execa('losetup', ['--detach', gone.path]);
        await execa('wipefs', ['--all', exchanged.path]);
        const before = await sha256(exchanged.path);
        const [lost, other] = await Promise.all([
          ready(first.metadata.name, 'False'),
          ready(second.metadata.name, 'False'),
        ]);
        expect(readyOf(lost)).toMatchObject({ reason: 'UnavailableError' });
        expect(readyOf(other)).toMatchObject({
          reason: 'UnavailableError',
          message: expect.stringContaining(
            'should contain what was created for this Volume, but nothing was found',
          ),
        });
        expect(await sha256(exchanged.path)).toBe(before);
        // The disk returns under its path, with all its data.
        await execa('losetup', [gone.path, gone.file]);
        await ready(first.metadata.name, 'True');
        for (const { metadata } of [first, second]) {
          await patch(metadata.name, { onDelete: 'Retain' });
          expect((await stowage('delete', 'volume', metadata.name, '--wait')).exitCode).toBe(0);
        }
      });
    }
  });
}
