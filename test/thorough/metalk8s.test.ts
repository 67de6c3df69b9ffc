import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { PersistentVolume } from '../../src/api/core.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { type Content, type Kinds, SIZE, setUpKinds } from '../support/kinds.ts';
import {
  definitionOf,
  deviceAt,
  endPodWhenScaledDown,
  hashOf,
  type Made,
  METALK8S_CRD,
  makeVolume,
  operatorOf,
  prepareDisk,
  preparePartition,
  prepareSparse,
  SPARSE,
  startOperator,
} from '../support/metalk8s.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { until } from '../support/until.ts';

const STOWAGE = 'bin/stowage';
const LOCAL = ['--transport', 'local', '--local-node', 'n1'];
const RECORDS = '/var/lib/stowage/volumes';
const MIB = 1n << 20n;

describeAsRoot('install --take-over-metalk8s, with real devices as MetalK8s creates them', () => {
  let kinds: Kinds;
  let cluster: TestCluster;
  const made: Made[] = [];
  const ends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    kinds = await setUpKinds();
  });
  beforeEach(async () => {
    cluster = await startCluster({ crds: [METALK8S_CRD as never], nodes: ['n1'] });
    await startOperator(cluster.client);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    for (const { uid } of made.splice(0)) await removeTraces(uid, `${SPARSE}/${uid}`);
    await kinds.clean();
    await cluster.stop();
  });
  afterAll(() => kinds?.stop());

  const stowage = (...args: string[]) =>
    execa(STOWAGE, args, { env: { KUBECONFIG: cluster.kubeconfig }, reject: false });
  const takeOver = (...more: string[]) =>
    stowage('install', '--take-over-metalk8s', '--components', 'crds', ...LOCAL, ...more);
  const volumeNamed = (name: string) => cluster.client.get<Volume>(VOLUMES, name);
  const pvNamed = (name: string) => cluster.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
  /** XFS needs this size. Other volumes are small, as they are hashed. */
  const sizeOf = (content: Content) => (content === 'xfs' ? SIZE : 64n * MIB);
  const modeOf = (content: Content) => (content === 'Block' ? 'Block' : 'Filesystem');
  const exists = async (path: string) =>
    (await execa('test', ['-e', path], { reject: false })).exitCode === 0;

  async function sparse(name: string, content: Content): Promise<Made> {
    const bytes = sizeOf(content);
    const spec = { mode: modeOf(content), sparseLoopDevice: { size: String(bytes) } } as const;
    const fs = content === 'Block' ? undefined : content;
    return noted(
      await makeVolume(cluster.client, name, spec, fs, async (uid) =>
        deviceAt(await prepareSparse(uid, name, bytes, content)),
      ),
    );
  }

  async function raw(
    name: string,
    on: 'disk' | 'partition',
    content: Content,
  ): Promise<Made & { disk: string }> {
    const bytes = sizeOf(content);
    const { path, partition } =
      on === 'disk' ? await kinds.disk(bytes) : await kinds.disk(2n * bytes + 2n * MIB, 'gpt');
    const spec = {
      mode: modeOf(content),
      rawBlockDevice: { devicePath: on === 'disk' ? path : partition },
    } as const;
    const prepare = on === 'disk' ? prepareDisk : preparePartition;
    const fs = content === 'Block' ? undefined : content;
    return {
      ...noted(
        await makeVolume(cluster.client, name, spec, fs, async (uid) =>
          deviceAt(await prepare(uid, name, path, content)),
        ),
      ),
      disk: path,
    };
  }

  function noted(volume: Made): Made {
    made.push(volume);
    return volume;
  }

  /**
   * Mounts the volume as the kubelet does for a pod, which has a file or the device open.
   * @returns a function that reads the pod's data
   */
  async function usedByPod(
    { volume, link }: Made,
    content: Content,
  ): Promise<() => Promise<string>> {
    if (content === 'Block') {
      const { stdout: loop } = await execa('losetup', ['--find', '--show', link]);
      ends.push(() => execa('losetup', ['--detach', loop]));
      await execa('dd', [`of=${loop}`, 'bs=4096', 'conv=notrunc,fsync', 'status=none'], {
        input: 'kept',
      });
      return async () =>
        (await execa('dd', [`if=${loop}`, 'bs=4', 'count=1', 'status=none'])).stdout;
    }
    const point = `/var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/${volume.metadata.name}`;
    const first = dirname((await mkdir(point, { recursive: true })) ?? point);
    await execa('mount', [link, point]);
    ends.push(async () => {
      await execa('umount', [point]);
      // A kubelet's directory that remains would mark this machine as a node of a cluster for other
      // tests.
      await execa('rmdir', ['--parents', '--ignore-fail-on-non-empty', relative(first, point)], {
        cwd: first,
      });
    });
    await writeFile(`${point}/data`, 'kept');
    const holder = execa('sh', ['-c', 'exec 3<"$1"; echo open; read end', 'sh', `${point}/data`], {
      stdin: 'pipe',
      reject: false,
    });
    ends.push(() => {
      holder.kill('SIGKILL');
      return holder;
    });
    // A mounted file system sometimes writes to its log, which would not be a change by the
    // command.
    await execa('fsfreeze', ['--freeze', point]);
    ends.push(() => execa('fsfreeze', ['--unfreeze', point]));
    return () => readFile(`${point}/data`, 'utf8');
  }

  test('adopts volumes of all kinds that pods use, without changing a byte', async () => {
    const all: { made: Made; content: Content; device: string; kind: string }[] = [];
    const add = (each: Made, content: Content, device: string, kind: string) =>
      all.push({ made: each, content, device, kind });
    for (const content of ['ext4', 'xfs', 'Block'] as const) {
      const file = await sparse(`sparse-${content.toLowerCase()}`, content);
      add(file, content, `${SPARSE}/${file.uid}`, 'sparse');
      for (const on of ['disk', 'partition'] as const) {
        const device = await raw(`${on}-${content.toLowerCase()}`, on, content);
        add(device, content, device.disk, 'raw');
      }
    }
    const pods = [];
    for (const each of all) pods.push(await usedByPod(each.made, each.content));
    const before = [];
    for (const { device } of all) before.push(await hashOf(device));
    const pvs = await Promise.all(all.map(({ made: { volume } }) => pvNamed(volume.metadata.name)));

    const dry = await takeOver('--dry-run=client');
    expect([dry.exitCode, dry.stderr]).toEqual([0, '']);
    expect(dry.stdout).toMatch(/^# deployment\.apps\/storage-operator-.* is scaled from 1 to 0$/m);
    for (const { made: each } of all) {
      expect(dry.stdout).toContain(
        `Volume ${each.volume.metadata.name} on node n1 is adopted: /dev/loop`,
      );
      expect(await exists(`${RECORDS}/${each.uid}.intent`)).toBe(false);
    }
    expect((await operatorOf(cluster.client)).spec.replicas).toBe(1);
    expect((await definitionOf(cluster.client)).metadata.generation).toBe(1);

    const [taken] = await Promise.all([takeOver(), endPodWhenScaledDown(cluster.client)]);
    expect([taken.exitCode, taken.stderr]).toEqual([
      0,
      expect.stringContaining('scaled from 1 to 0'),
    ]);
    expect((await operatorOf(cluster.client)).metadata.annotations).toEqual({
      'stowage.dev/replicas-before': '1',
    });
    for (const [index, { made: each, kind }] of all.entries()) {
      const { uid, volume } = each;
      const { name } = volume.metadata;
      expect(taken.stderr).toContain(`volume/${name} adopted: /dev/loop`);
      const { status, metadata } = await volumeNamed(name);
      expect(status).toMatchObject({
        phase: 'Available',
        job: 'PrepareVolume/DONE',
        devicePath: each.link,
      });
      expect(status?.prepared?.node).toBe('n1');
      expect(status?.deviceName).toBe(volume.status?.deviceName);
      expect(metadata.finalizers).toEqual(volume.metadata.finalizers);
      expect(await pvNamed(name)).toEqual(pvs[index]);
      const intent = JSON.parse(await readFile(`${RECORDS}/${uid}.intent`, 'utf8'));
      expect(intent).toMatchObject({ uid, consent: 'none' });
      expect(kind === 'sparse' ? intent.file : intent.device.path).toBe(status?.prepared?.paths[0]);
      expect(await exists(`${RECORDS}/${uid}.done`)).toBe(true);
    }
    // A second run finds nothing to do.
    const again = await takeOver('--dry-run=client');
    expect(
      again.stdout.split('\n').every((line) => line.includes("is left unchanged: it is Stowage's")),
    ).toBe(true);

    const watch = execa(STOWAGE, ['watch', ...LOCAL], {
      env: { KUBECONFIG: cluster.kubeconfig },
      reject: false,
    });
    ends.push(() => {
      watch.kill('SIGTERM');
      return watch;
    });
    for (const { made: each } of all) {
      const { name } = each.volume.metadata;
      await until(`the daemon has reconciled ${name}`, async () => {
        const { status, metadata } = await volumeNamed(name);
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        if (ready?.status === 'False') throw new Error(`${name}: ${ready.message}`);
        return ready?.reason === 'Available' && status?.observedGeneration === metadata.generation
          ? true
          : undefined;
      });
    }
    const after = [];
    for (const { device } of all) after.push(await hashOf(device));
    expect(after).toEqual(before);
    for (const read of pods) expect(await read()).toBe('kept');
  }, 240_000);

  type Spoil = (volume: Made & { disk?: string }) => Promise<unknown>;
  const client = () => cluster.client;
  const cases: [string, () => Promise<Made & { disk?: string }>, Spoil, RegExp][] = [
    [
      'a file that holds another file system',
      () => sparse('data', 'ext4'),
      async ({ uid }) => {
        await removeTraces('none', `${SPARSE}/${uid}`);
        await execa('truncate', ['-s', '64M', `${SPARSE}/${uid}`]);
        await execa('mkfs.ext4', ['-q', '-F', `${SPARSE}/${uid}`]);
      },
      /should contain a file system .* but ext4 .* was found/,
    ],
    [
      'a missing file',
      () => sparse('data', 'ext4'),
      ({ uid }) => removeTraces('none', `${SPARSE}/${uid}`),
      /the backing file .* is missing/,
    ],
    [
      'a table whose partition has another GUID',
      () => sparse('data', 'Block'),
      async ({ uid, volume }) => {
        const loop = `/dev/${volume.status?.deviceName?.replace(/p1$/, '')}`;
        await execa('sgdisk', ['--partition-guid', '1:R', `${SPARSE}/${uid}`]);
        await execa('partx', ['--update', loop]);
        await execa('udevadm', ['trigger', '--action=change', `--name-match=${loop}p1`]);
        await execa('udevadm', ['settle', '--timeout=10']);
      },
      /does not lead to \/dev\/loop/,
    ],
    [
      'a reformatted disk',
      () => raw('data', 'disk', 'xfs'),
      ({ disk = '' }) => execa('mkfs.xfs', ['-q', '-f', disk]),
      /contains xfs:.*, not what MetalK8s creates for this Volume/,
    ],
    [
      'a missing partition',
      () => raw('data', 'partition', 'Block'),
      ({ disk = '' }) => execa('partx', ['--delete', disk]),
      /there is no device/,
    ],
    [
      'a PersistentVolume of another device',
      () => raw('data', 'disk', 'ext4'),
      async ({ volume }) => {
        const { spec, metadata } = await pvNamed(volume.metadata.name);
        await client().patch(PERSISTENT_VOLUMES, 'data', { metadata: { finalizers: null } });
        await client().delete(PERSISTENT_VOLUMES, 'data');
        const { name, ownerReferences, finalizers } = metadata;
        await client().create(PERSISTENT_VOLUMES, {
          apiVersion: 'v1',
          kind: 'PersistentVolume',
          metadata: { name, ownerReferences, finalizers },
          spec: { ...spec, local: { path: '/dev/loop0' } },
        } as PersistentVolume);
      },
      /its PersistentVolume leads to \/dev\/loop0/,
    ],
    [
      'a running job of MetalK8s',
      () => sparse('data', 'ext4'),
      () =>
        client().patch(
          VOLUMES,
          'data',
          { status: { job: 'PrepareVolume/2020' } },
          { subresource: 'status' },
        ),
      /its job PrepareVolume\/2020 may be running/,
    ],
  ];
  test.each(cases)('changes nothing because of %s', async (_, make, spoil, why) => {
    const good = await sparse('good', 'ext4');
    const bad = await make();
    await spoil(bad);
    const { exitCode, stderr } = await takeOver();
    expect([exitCode, stderr]).toEqual([5, expect.stringMatching(why)]);
    expect((await operatorOf(cluster.client)).spec.replicas).toBe(1);
    expect((await definitionOf(cluster.client)).metadata.generation).toBe(1);
    for (const { uid } of [good, bad]) {
      expect(await exists(`${RECORDS}/${uid}.intent`)).toBe(false);
      expect(await exists(`${RECORDS}/${uid}.done`)).toBe(false);
    }
  });

  test('deletes an adopted sparse volume completely, and keeps the data of a disk', async () => {
    const file = await sparse('file', 'Block');
    const device = await raw('device', 'disk', 'Block');
    const [taken] = await Promise.all([takeOver(), endPodWhenScaledDown(cluster.client)]);
    expect([taken.exitCode, taken.stderr]).toEqual([0, expect.any(String)]);
    const before = await hashOf(device.disk);
    const watch = execa(STOWAGE, ['watch', ...LOCAL], {
      env: { KUBECONFIG: cluster.kubeconfig },
      reject: false,
    });
    ends.push(() => {
      watch.kill('SIGTERM');
      return watch;
    });
    const deleted = await stowage(
      'delete',
      'volume',
      'file',
      'device',
      '--wait',
      '--timeout',
      '120s',
    );
    expect([deleted.exitCode, deleted.stderr]).toEqual([0, expect.any(String)]);
    expect(await exists(`${SPARSE}/${file.uid}`)).toBe(false);
    expect((await execa('losetup', ['-n', '-j', `${SPARSE}/${file.uid}`])).stdout).toBe('');
    expect(await hashOf(device.disk)).toBe(before);
    for (const { uid } of [file, device]) {
      expect((await execa('find', [RECORDS, '-name', `${uid}*`])).stdout).toBe('');
    }
  });
});
