import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../src/api/core.ts';
import { ALL_CRDS } from '../../../src/api/crds.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
} from '../../../src/api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import type { Executor } from '../../../src/nodes/job.ts';
import { createShellExecutor } from '../../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../../src/nodes/transport/ssh-shell.ts';
import {
  type DesiredThinSnapshot,
  planThinSnapshot,
  readThin,
  thinProbes,
} from '../../../src/storage/lvm/snapshot.ts';
import { onlyDisks, readView, viewProbes } from '../../../src/storage/lvm/view.ts';
import { answersOf } from '../../../src/storage/probe-results.ts';
import { scriptArgv } from '../../../src/storage/scripts/scripts.ts';
import { startCluster, type TestCluster } from '../../support/cluster.ts';
import { CONTENTS, type Content } from '../../support/kinds.ts';
import { drawSeed, seeded } from '../../support/random.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { onNode } from './node.ts';
import { startVm, type Vm } from './vm.ts';
import { startWatch, type Watch } from './watch.ts';

/**
 * Snapshots of thin logical volumes, and volumes restored from them, by the daemon, on a kernel
 * with device-mapper.
 */

const NODE = 'vm1';
const NAMESPACE = 'default';
const SIZE = '304Mi';
const WITHIN = 300_000;
const random = seeded(drawSeed());

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let cluster: TestCluster;
let vm: Vm;
let node: ReturnType<typeof onNode>;
let watch: Watch;
let executor: Executor;

beforeAll(async () => {
  folder = await temporaryDirectory('snapshots');
  cluster = await startCluster({ crds: ALL_CRDS });
  vm = await startVm({ name: NODE, disks: { group: '3G' } });
  node = onNode(vm);
  executor = createShellExecutor(
    createSshShell({ configFile: vm.configFile, addressOf: () => ({}) }),
  );
  await vm.run(['vgcreate', 'vg0', vm.disk('group')]);
  await vm.run(['lvcreate', '--yes', '--type', 'thin-pool', '-L', '2500M', '-n', 'pool', 'vg0']);
  await vm.run(['sync', vm.disk('group')]);
  const { client } = cluster;
  await client.create<KubeNode>(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: NODE, labels: { 'kubernetes.io/hostname': NODE } },
  });
  await kubeletStarts();
  for (const fsType of ['ext4', 'xfs']) {
    await client.create<StorageClass>(STORAGE_CLASSES, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: fsType },
      provisioner: 'volume.stowage.dev',
      parameters: { type: 'lvm', vgName: 'vg0', thinPool: 'pool', fsType, overcommit: '10' },
      volumeBindingMode: 'Immediate',
      reclaimPolicy: 'Delete',
    });
  }
  await client.create<KubeObject>(VOLUME_SNAPSHOT_CLASSES, {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotClass',
    metadata: {
      name: 'fast',
      annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' },
    },
    driver: 'volume.stowage.dev',
    deletionPolicy: 'Delete',
  } as KubeObject);
  watch = startWatch(cluster.kubeconfig, vm.configFile, folder.path);
}, 1_800_000);

afterAll(async () => {
  const exit = await watch?.stop();
  await executor?.close();
  await vm?.stop();
  await cluster?.stop();
  await folder?.remove();
  expect(exit).toBe(0);
});

async function kubeletStarts(): Promise<void> {
  const { stdout: bootID } = await vm.run(['cat', '/proc/sys/kernel/random/boot_id']);
  const status = { nodeInfo: { bootID }, conditions: [{ type: 'Ready', status: 'True' }] };
  await cluster.client.patch<KubeNode>(NODES, NODE, { status }, { subresource: 'status' });
}

async function cutPower(): Promise<void> {
  await vm.powerCut();
  await vm.boot();
  await kubeletStarts();
}

/** Prints the last output of the daemon and the console if the work fails. */
async function told(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const console = (await vm.console()).split('\n').slice(-30).join('\n');
    const { stdout: volumes } = await vm.run(['lvs', '-a', '-o', '+lv_tags'], { reject: false });
    process.stderr.write(
      `\n${volumes}\nThe VM's console:\n${console}\nThe daemon:\n${await watch.log()}\n`,
    );
    throw error;
  }
}

const createClaim = (name: string, content: Content, source?: object, size = SIZE) =>
  cluster.client.create<PersistentVolumeClaim>(
    PERSISTENT_VOLUME_CLAIMS,
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: NAMESPACE },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: content === 'xfs' ? 'xfs' : 'ext4',
        volumeMode: content === 'Block' ? 'Block' : 'Filesystem',
        resources: { requests: { storage: size } },
        ...(source && { dataSource: source }),
      },
    } as PersistentVolumeClaim,
    { namespace: NAMESPACE },
  );

const ofSnapshot = (name: string) => ({
  apiGroup: 'snapshot.storage.k8s.io',
  kind: 'VolumeSnapshot',
  name,
});
const ofClaim = (name: string) => ({ kind: 'PersistentVolumeClaim', name });

const createSnapshot = (name: string, claim: string) =>
  cluster.client.create<VolumeSnapshot>(
    VOLUME_SNAPSHOTS,
    {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      metadata: { name, namespace: NAMESPACE },
      spec: { source: { persistentVolumeClaimName: claim } },
    },
    { namespace: NAMESPACE },
  );

/** Waits until a claim is bound. @returns the path of its device */
const isBound = (name: string): Promise<string> =>
  until(
    `${name} is bound`,
    async () => {
      const { client } = cluster;
      const claim = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, {
        namespace: NAMESPACE,
      });
      if (claim.status?.phase !== 'Bound') return undefined;
      return (await client.get<PersistentVolume>(PERSISTENT_VOLUMES, claim.spec.volumeName ?? ''))
        .spec.local?.path;
    },
    WITHIN,
  );

/** Waits until a snapshot is ready. @returns the name of its logical volume */
const isReady = (name: string): Promise<string> =>
  until(
    `${name} is ready`,
    async () => {
      const { client } = cluster;
      const { status } = await client.get<VolumeSnapshot>(VOLUME_SNAPSHOTS, name, {
        namespace: NAMESPACE,
      });
      if (!status?.readyToUse) return undefined;
      const content = await client.get<VolumeSnapshotContent>(
        VOLUME_SNAPSHOT_CONTENTS,
        status.boundVolumeSnapshotContentName ?? '',
      );
      return content.status?.snapshotHandle?.replace(`lvm:${NODE}:vg0/`, '');
    },
    WITHIN,
  );

const volumes = async (): Promise<string[]> =>
  (await vm.run(['lvs', '--noheadings', '-o', 'lv_name', 'vg0'])).stdout
    .split('\n')
    .map((line) => line.trim())
    .filter((name) => /^\S+$/.test(name) && name !== 'pool');

const field = async (name: string, fields: string): Promise<string> =>
  (await vm.run(['lvs', '--noheadings', '--separator', ';', '-o', fields, `vg0/${name}`])).stdout
    .split('\n')
    .at(-1)
    ?.trim() ?? '';

async function removeAll(): Promise<void> {
  const { client } = cluster;
  for (const resource of [VOLUME_SNAPSHOTS, PERSISTENT_VOLUME_CLAIMS]) {
    for (const { metadata } of (await client.list<KubeObject>(resource, {})).items) {
      await client.delete(resource, metadata.name, { namespace: NAMESPACE });
    }
    await until(
      `no ${resource.plural} are left`,
      async () =>
        (await client.list<KubeObject>(resource, {})).items.length === 0 ? true : undefined,
      WITHIN,
    );
  }
  await until(
    'nothing is left on the node',
    async () => {
      const records = await vm.run(['find', '/var/lib/stowage/volumes', '-type', 'f'], {
        reject: false,
      });
      return (await volumes()).length === 0 && records.stdout === '' ? true : undefined;
    },
    WITHIN,
  );
  const left = await client.list<KubeObject>(VOLUME_SNAPSHOT_CONTENTS, {});
  expect(left.items.map(({ metadata }) => metadata.name)).toEqual([]);
}

/**
 * Follows a link until the returned function is called.
 * @returns the link's targets in sequence, without repetitions
 */
function followLink(link: string): () => Promise<string[]> {
  const look =
    'rm -f /run/end; until test -e /run/end; do readlink -f "$1"; sleep 0.05; done | uniq';
  const ran = vm.run(['sh', '-c', look, 'sh', link]);
  return async () => {
    await vm.run(['touch', '/run/end']);
    return (await ran).stdout.split('\n');
  };
}

test.each(CONTENTS)(
  'a volume with %s is snapshotted during writes, restored, cloned and used with its copies',
  (content) =>
    told(async () => {
      await createClaim('data', content);
      const link = await isBound('data');
      const files = content !== 'Block';
      await node.write(content, link, 'before');
      const point = files ? await node.mount(link, 'data') : '';
      const writer = files ? node.startWriter(point) : undefined;
      if (files) await node.appears(`${point}/numbers`);
      const follow = followLink(link);

      await createSnapshot('backup', 'data');
      const snapshot = await isReady('backup');
      expect(snapshot).toMatch(/^snap-[0-9a-f-]{36}$/);
      expect(await field(snapshot, 'lv_active,lv_skip_activation,lv_permissions,pool_lv')).toMatch(
        /^;skip activation;read-only;pool$/,
      );
      if (files) await vm.run(['sh', '-c', 'echo after >"$1/data" && sync "$1/data"', 'sh', point]);
      else await node.write(content, link, 'after');

      await createClaim('restored', content, ofSnapshot('backup'), '320Mi');
      await createClaim('cloned', content, ofClaim('data'));
      const [restored, cloned] = [await isBound('restored'), await isBound('cloned')];
      expect(new Set([link, restored, cloned]).size).toBe(3);
      const bytes = (await vm.run(['blockdev', '--getsize64', restored])).stdout;
      expect(Number(bytes)).toBe(320 << 20);

      if (files) {
        const points = [await node.mount(restored, 'restored'), await node.mount(cloned, 'cloned')];
        const texts = [];
        for (const each of points) texts.push((await vm.run(['cat', `${each}/data`])).stdout);
        expect(texts).toEqual(['before', 'after']);
        const uuids = (await vm.run(['findmnt', '-nro', 'UUID', '-T', points[0] ?? ''])).stdout;
        expect(restored).toBe(`/dev/disk/by-id/stowage-${uuids}`);
        const { stdout } = await vm.run(['df', '-B1', '--output=size', ...points]);
        const [large = 0, small = 0] = stdout.split('\n').slice(1).map(Number);
        expect(large - small).toBeGreaterThan(10 << 20);
        for (const each of points)
          await vm.run(['sh', '-c', 'echo own >"$1/own"; sync "$1/own"', 'sh', each]);
        await vm.run(['pkill', '-f', '[t]est-mounts-data/numbers']);
        const leave = 'until umount "$1"; do sleep 0.2; done';
        for (const each of [...points, point]) {
          await vm.run(['timeout', '60', 'sh', '-c', leave, 'sh', each]);
        }
        expect(await writer?.ended()).toBeGreaterThan(0);
        expect(await node.numbersOn(restored)).toBeGreaterThan(0);
      } else {
        expect(await node.read(content, restored)).toBe('before');
        expect(await node.read(content, cloned)).toBe('after');
        await node.write(content, cloned, 'own');
      }
      expect(await node.read(content, link)).toBe('after');
      // The original's link always had the same target.
      expect(await follow()).toHaveLength(1);
      await removeAll();
    }),
  3 * WITHIN,
);

/** Cuts the power at a random time of up to `ms` after a shell condition becomes true in the VM. */
async function cutOnce(condition: string, ms: number): Promise<string> {
  const after = Math.floor(random() * ms);
  const wait = `until ${condition}; do sleep 0.05; done; sleep ${after / 1000}`;
  const { exitCode } = await vm.run(['timeout', '200', 'sh', '-c', wait], { reject: false });
  await cutPower();
  return `${exitCode === 0 ? `${after} ms` : 'never'} after ${condition}`;
}

test.each(['ext4', 'xfs'] as const)(
  'power cuts during the snapshot of an %s and its restore leave one correct copy of each',
  (content) =>
    told(async () => {
      const cuts: string[] = [];
      await createClaim('data', content);
      const link = await isBound('data');
      await node.write(content, link, 'before');
      await createSnapshot('backup', 'data');
      cuts.push(await cutOnce('pidof lvcreate', 2000));
      const snapshot = await isReady('backup');
      await node.appears(link);
      await node.write(content, link, 'after');
      await createClaim('restored', content, ofSnapshot('backup'));
      cuts.push(await cutOnce('pidof lvcreate', 2000));
      cuts.push(await cutOnce('ls /dev/mapper/*-stowage 2>/dev/null', 3000));
      const restored = await isBound('restored');
      await node.appears(restored);
      await node.appears(link);
      expect(await node.read(content, restored)).toBe('before');
      expect(await node.read(content, link)).toBe('after');
      const names = await volumes();
      expect(names.filter((name) => name.startsWith('snap-'))).toEqual([snapshot]);
      expect(names).toHaveLength(3);
      process.stderr.write(`${content}: the power was cut ${cuts.join(', ')}\n`);
      await removeAll();
    }),
  6 * WITHIN,
);

/**
 * Sends a signal to lvcreate while the origin's device is suspended. Prints whether it was in time.
 */
const HIT = `how=$1 device=$2
shift 2
"$@" >/dev/null 2>&1 &
job=$! pid= hit=missed
while [ -z "$pid" ] && [ -d /proc/$job ]; do pid=$(pidof lvcreate); done
while [ -n "$pid" ] && [ -d /proc/$pid ]; do
  read state </sys/block/$device/dm/suspended
  [ "$state" = 1 ] || continue
  kill -s $how $pid && hit=hit
  break
done
wait $job
echo "$hit $?"`;

/** Writes and syncs until stopped, and prints the longest duration of a write in ms. */
const WRITE = `rm -f /run/end-writes; longest=0 last=$(date +%s%3N)
until test -e /run/end-writes; do
  echo number >>"$1/gaps"; sync "$1/gaps"
  now=$(date +%s%3N); took=$((now - last)); last=$now
  [ $took -le $longest ] || longest=$took
done
echo $longest`;

test(
  'writes resume after an lvcreate is stopped or killed while its origin is suspended',
  () =>
    told(async () => {
      await createClaim('data', 'ext4');
      const link = await isBound('data');
      const volumeUid = basename(link).replace('stowage-', '');
      const point = await node.mount(link, 'data');
      const device = basename((await vm.run(['readlink', '-f', link])).stdout);
      const [name = ''] = await volumes();
      const writes = vm.run(['sh', '-c', WRITE, 'sh', point]);
      const said: string[] = [];
      for (const how of ['STOP', 'KILL', 'STOP', 'KILL', 'KILL', 'KILL']) {
        const uid = randomUUID();
        const wanted: DesiredThinSnapshot = {
          ...{ type: 'lvm', uid, vgName: 'vg0', name: `snap-${uid}` },
          volume: undefined,
        };
        const disks = onlyDisks([vm.disk('group')]);
        const words = [disks, `vg0/${name}`, volumeUid, wanted.name, uid, 'r'];
        const argv = scriptArgv('stowage-thin', ...words);
        const { stdout } = await vm.run(['sh', '-c', HIT, 'sh', how, device, ...argv]);
        said.push(`${how} ${stdout}`);
        const { stdout: states } = await vm.run([
          'dmsetup',
          'info',
          '-c',
          '--noheadings',
          '-o',
          'suspended',
        ]);
        expect(states).not.toContain('Suspended');
        const look = async () => {
          const view = readView(answersOf(await executor.observe(NODE, viewProbes())));
          const seen = await executor.observe(NODE, thinProbes(wanted, view));
          return planThinSnapshot('delete', wanted, readThin(wanted, view, seen));
        };
        // Its tag was not exchanged. So it is unfinished, even if lvcreate completed.
        const made = await look();
        const steps = 'steps' in made ? made.steps : [];
        if (steps.length > 0) {
          const key = { subject: uid, id: 'remove' };
          let state = await executor.submit(NODE, { key, steps }, 20_000);
          while (state.state === 'running')
            [state = state] = await executor.poll(NODE, [key], 20_000);
          expect(state).toMatchObject({ state: 'succeeded' });
        }
        expect(await look()).toEqual({ steps: [] });
      }
      await vm.run(['touch', '/run/end-writes']);
      const longest = Number((await writes).stdout);
      process.stderr.write(`${said.join(', ')}: the longest write took ${longest} ms\n`);
      expect(said.filter((each) => each.includes(' hit ')).length).toBeGreaterThan(0);
      expect(longest).toBeLessThan(10_000);
      await vm.run(['umount', point]);
      // The pool accepts further snapshots.
      await createSnapshot('backup', 'data');
      await isReady('backup');
      await removeAll();
    }),
  3 * WITHIN,
);
