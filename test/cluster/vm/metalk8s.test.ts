import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { PersistentVolume } from '../../../src/api/core.ts';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { startCluster, type TestCluster } from '../../support/cluster.ts';
import type { Content } from '../../support/kinds.ts';
import {
  endPodWhenScaledDown,
  type Made,
  METALK8S_CRD,
  makeVolume,
  operatorOf,
  startOperator,
} from '../../support/metalk8s.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { onNode } from './node.ts';
import { CONVERGES_WITHIN, readyOf } from './scene.ts';
import { startVm, type Vm } from './vm.ts';
import { startWatch, type Watch } from './watch.ts';

/**
 * Logical volumes created as MetalK8s does, which requires a kernel with device-mapper.
 * thorough/take-over tests files and disks.
 */

const SIZE = '304Mi';
/** Node name in the objects of MetalK8s. */
const NODE = 'n1';
const RECORDS = '/var/lib/stowage/volumes';

let vm: Vm;
let cluster: TestCluster;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let watch: Watch | undefined;

beforeAll(async () => {
  folder = await temporaryDirectory('take-over');
  vm = await startVm({ name: NODE, disks: { group: '3G' } });
  await vm.run(['vgcreate', 'vg0', vm.disk('group')]);
  cluster = await startCluster({ crds: [METALK8S_CRD as never], nodes: [NODE] });
  await startOperator(cluster.client);
}, 1_800_000);
afterAll(async () => {
  const exit = await watch?.stop();
  await vm?.stop();
  await cluster?.stop();
  await folder?.remove();
  expect(exit).toBe(0);
});

const takeOver = (...more: string[]) =>
  execa(
    'bin/stowage',
    [
      ...['install', '--take-over-metalk8s', '--components', 'crds', '--ssh-config', vm.configFile],
      ...more,
    ],
    { env: { KUBECONFIG: cluster.kubeconfig }, reject: false },
  );
const get = (name: string) => cluster.client.get<Volume>(VOLUMES, name);
const pvOf = (name: string) => cluster.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);

/**
 * Runs the commands of MetalK8s' states for a Volume: lvcreate, then mkfs with the Volume's UID,
 * except in mode Block.
 */
const PREPARE = `lvcreate --yes -n "$1" -L "$2" vg0 && case $3 in
  ext4) mkfs.ext4 -q -F -U "$4" -m 0 -E lazy_itable_init=0,lazy_journal_init=0 "/dev/vg0/$1" ;;
  xfs) mkfs.xfs -q -f -m "uuid=$4" "/dev/vg0/$1" ;;
esac && udevadm trigger --action=change --name-match="/dev/vg0/$1" && udevadm settle`;

function make(name: string, content: Content): Promise<Made> {
  const mode = content === 'Block' ? 'Block' : 'Filesystem';
  const spec = { mode, lvmLogicalVolume: { vgName: 'vg0', size: SIZE } } as const;
  return makeVolume(
    cluster.client,
    name,
    spec,
    content === 'Block' ? undefined : content,
    async (uid) => {
      await vm.run(['sh', '-c', PREPARE, 'sh', name, '304m', content, uid]);
      const { stdout: device } = await vm.run(['realpath', `/dev/vg0/${name}`]);
      const { stdout: bytes } = await vm.run(['blockdev', '--getsize64', device]);
      const { stdout: dm } = await vm.run([
        'cat',
        `/sys/class/block/${device.slice('/dev/'.length)}/dm/uuid`,
      ]);
      const link =
        content === 'Block' ? `/dev/disk/by-id/dm-uuid-${dm}` : `/dev/disk/by-uuid/${uid}`;
      expect((await vm.run(['realpath', link])).stdout).toBe(device);
      return { link, name: device.slice('/dev/'.length), bytes };
    },
  );
}

/** Returns the hash of every byte of a logical volume, bypassing the cache. */
async function hashOf(name: string): Promise<string> {
  const sum = 'sync "$1"; dd if="$1" bs=1M iflag=direct status=none | sha256sum';
  return (await vm.run(['sh', '-c', sum, 'sh', `/dev/vg0/${name}`])).stdout;
}

async function available(name: string): Promise<Volume> {
  return until(
    `the daemon has reconciled ${name}`,
    async () => {
      const volume = await get(name);
      const ready = readyOf(volume);
      if (ready?.status === 'False')
        throw new Error(`${name}: ${ready.message}\n${await watch?.log()}`);
      const { observedGeneration } = volume.status ?? {};
      return ready?.reason === 'Available' && observedGeneration === volume.metadata.generation
        ? volume
        : undefined;
    },
    CONVERGES_WITHIN,
  );
}

test(
  'logical volumes are adopted unchanged, also in use, and kept after their Volume is deleted',
  async () => {
    const all = [
      await make('plain', 'ext4'),
      await make('big', 'xfs'),
      await make('bare', 'Block'),
    ];
    const names = all.map(({ volume }) => volume.metadata.name);
    await onNode(vm).write('Block', all[2]?.link ?? '', 'kept');
    // Mounted as by the kubelet for a pod. Frozen, as a mounted file system sometimes writes to its
    // log.
    const point = await onNode(vm).mount(all[0]?.link ?? '', 'pod');
    await vm.run(['sh', '-c', 'echo kept >"$1/data" && fsfreeze --freeze "$1"', 'sh', point]);
    const before = await Promise.all(names.map(hashOf));
    const pvs = await Promise.all(names.map(pvOf));

    // An inactive volume cannot be checked. The command then changes nothing.
    await vm.run(['lvchange', '-an', 'vg0/big']);
    const early = await takeOver();
    expect([early.exitCode, early.stderr]).toEqual([
      5,
      expect.stringContaining('lvchange -ay vg0/big'),
    ]);
    expect((await operatorOf(cluster.client)).spec.replicas).toBe(1);
    for (const { uid } of all) {
      expect(await onNode(vm).exists(`${RECORDS}/${uid}.intent`)).toBe(false);
    }
    await vm.run(['lvchange', '-ay', 'vg0/big']);
    await vm.run(['udevadm', 'settle']);

    const [taken] = await Promise.all([takeOver(), endPodWhenScaledDown(cluster.client)]);
    expect([taken.exitCode, taken.stderr]).toEqual([
      0,
      expect.stringContaining('scaled from 1 to 0'),
    ]);
    for (const [index, { uid, volume, link }] of all.entries()) {
      const { name } = volume.metadata;
      expect(taken.stderr).toContain(`volume/${name} adopted: /dev/dm-`);
      const { status } = await get(name);
      expect(status).toMatchObject({
        phase: 'Available',
        job: 'PrepareVolume/DONE',
        devicePath: link,
      });
      expect(await pvOf(name)).toEqual(pvs[index]);
      expect(await onNode(vm).exists(`${RECORDS}/${uid}.done`)).toBe(true);
    }

    watch = startWatch(cluster.kubeconfig, vm.configFile, folder.path);
    for (const name of names) await available(name);
    expect(await Promise.all(names.map(hashOf))).toEqual(before);
    await vm.run(['fsfreeze', '--unfreeze', point]);
    expect((await vm.run(['cat', `${point}/data`])).stdout.trim()).toBe('kept');

    await cluster.client.delete(VOLUMES, 'bare');
    await until(
      'bare is gone',
      async () => {
        const { items } = await cluster.client.list<Volume>(VOLUMES);
        return items.some(({ metadata }) => metadata.name === 'bare') ? undefined : true;
      },
      CONVERGES_WITHIN,
    );
    await vm.run(['lvchange', '-ay', 'vg0/bare']);
    expect(await hashOf('bare')).toBe(before[2]);
    expect((await vm.run(['find', RECORDS, '-name', `${all[2]?.uid}*`])).stdout).toBe('');
  },
  4 * CONVERGES_WITHIN,
);
