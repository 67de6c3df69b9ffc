import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { KubeNode } from '../../../src/api/core.ts';
import { ALL_CRDS } from '../../../src/api/crds.ts';
import { NODES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import type { Executor } from '../../../src/nodes/job.ts';
import { createShellExecutor } from '../../../src/nodes/transport/shell-executor.ts';
import { createSshShell } from '../../../src/nodes/transport/ssh-shell.ts';
import type { DesiredSparse } from '../../../src/storage/types.ts';
import { carryOut, planNow } from '../../support/carry-out.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { sparseDesired } from '../../support/volume-input.ts';
import { startVm, type Vm } from './vm.ts';
import { startWatch, type Watch } from './watch.ts';

/**
 * Devices that LVM, mdadm or device-mapper still hold after the pod that created holders on them is
 * gone. The tests run each reported command as printed, until the volume is detached and removed.
 */

const NODE = 'vm1';
const LONG = 300_000;
const FOLDER = '/var/lib/metalk8s/storage/sparse';
let vm: Vm;
let executor: Executor;

beforeAll(async () => {
  vm = await startVm({ name: NODE, disks: { pv1: '1G' } });
  executor = createShellExecutor(
    createSshShell({ configFile: vm.configFile, addressOf: () => ({}) }),
  );
  // The node has a volume group with a name that pods often use.
  const script = 'vgcreate -q vg0 "$1"; lvcreate -q -y -n own -L 64M vg0; mkdir -p /mnt/a "$2"';
  await vm.run(['sh', '-c', script, 'sh', vm.disk('pv1'), FOLDER]);
}, 1_800_000);
afterAll(async () => {
  await executor?.close();
  await vm?.stop();
});

/** Script of a pod with its device as `$1`. */
const LVM = 'pvcreate -q "$1"; vgcreate -q guest "$1"; lvcreate -q -y -n data -L 32M guest';
/** A pod sees neither the node's disks nor its /dev. */
const OF_POD = `--config 'devices{global_filter=["a|/loop|","a|by-partuuid|","r|.*|"]}'`;
const USES: [what: string, script: string, told: RegExp[]][] = [
  ['a group of logical volumes', LVM, [/held by \S+ \(lvm, guest-data\)$/]],
  [
    'a group with a mounted logical volume',
    `${LVM}; lvcreate -q -y -n idle -L 16M guest; mkfs.ext4 -q /dev/guest/data; mount /dev/guest/data /mnt/a`,
    [
      /held by \S+ \(lvm, guest-data\), which is mounted at \/mnt\/a$/,
      /held by \S+ \(lvm, guest-\w+\)$/,
    ],
  ],
  [
    "a group with the name of the node's own",
    `rm -rf /dev/vg0; vgcreate -q ${OF_POD} vg0 "$1"; lvcreate -q -y ${OF_POD} -n data -L 32M vg0`,
    [/held by \S+ \(lvm, vg0-data\)$/],
  ],
  [
    'a thin pool',
    'vgcreate -q guest "$1"; lvcreate -q -y --type thin-pool -L 32M -n pool guest; lvcreate -q -y -V 64M --thinpool pool -n thin guest',
    [
      /held by .*, which is held by \/dev\/dm-\d+ \(lvm, guest-pool-tpool\), which is held by \/dev\/dm-\d+ \(lvm, guest-/,
    ],
  ],
  [
    'a RAID',
    'mdadm --create /dev/md/guest --run --quiet --metadata=1.2 --level=1 --raid-devices=2 "$1" missing',
    [/held by \/dev\/md\d+ \(raid1\)$/],
  ],
  [
    'a RAID with swap in a logical volume',
    `mdadm --create /dev/md/guest --run --quiet --metadata=1.2 --level=1 --raid-devices=2 "$1" missing; set -- /dev/md/guest; ${LVM}; mkswap -q /dev/guest/data; swapon /dev/guest/data`,
    [
      /held by \S+ \(raid1\), which is held by \/dev\/dm-\d+ \(lvm, guest-data\), which is swap$/,
      /held by \S+ \(raid1\), which is held by \/dev\/dm-\d+ \(lvm, guest-data\)$/,
      /held by \S+ \(raid1\)$/,
    ],
  ],
  [
    'a device-mapper device with shell characters in its name',
    'dmsetup create "a;\\$(reboot) \'b" --table "0 1024 linear $1 2048"',
    [/is in use: held by \S+ \(.*\)$/],
  ],
];

describe('detaching a device that is held', () => {
  const desired = (): DesiredSparse => {
    const uid = randomUUID();
    const file = `${FOLDER}/${uid}`;
    return { ...sparseDesired, uid, file, mode: 'Block', fs: undefined, sizeBytes: 128n << 20n };
  };
  test.each(USES)(
    'reports commands that release %s',
    async (_what, script, told) => {
      const wanted = desired();
      const made = await carryOut(executor, NODE, 'provision', wanted);
      if (typeof made === 'string') throw new Error(made);
      const link = `/dev/disk/by-partuuid/${wanted.uid}`;
      await vm.run(['sh', '-ec', script, 'sh', link]);
      const refusals: string[] = [];
      while (refusals.length < 6) {
        const planned = await planNow(executor, NODE, 'detach', { ...wanted, recorded: true });
        if (!('refusal' in planned)) break;
        refusals.push(planned.refusal);
        const command = planned.reason?.parameters.command;
        if (command === undefined)
          throw new Error(`no command is told: ${planned.refusal}. ${planned.hint}`);
        const { exitCode, stderr } = await vm.run(['sh', '-c', command], { reject: false });
        expect({ command, exitCode, stderr }).toMatchObject({ exitCode: 0 });
      }
      expect(refusals).toEqual(told.map((each) => expect.stringMatching(each)));
      expect(await carryOut(executor, NODE, 'delete', { ...wanted, recorded: true })).toMatchObject(
        {
          file: { type: 'missing' },
          recordFiles: false,
        },
      );
      // The node's own logical volume is unchanged.
      expect(
        (await vm.run(['lvs', '--noheadings', '-o', 'lv_active', 'vg0/own'])).stdout.trim(),
      ).toBe('active');
    },
    LONG,
  );
});

describe('deleting a Volume whose device is held', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let cluster: TestCluster;
  let watch: Watch;

  beforeAll(async () => {
    folder = await temporaryDirectory('holders');
    cluster = await startCluster({ crds: ALL_CRDS });
    const { client } = cluster;
    await client.create<KubeNode>(NODES, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: NODE, labels: { 'kubernetes.io/hostname': NODE } },
    });
    const { stdout: bootID } = await vm.run(['cat', '/proc/sys/kernel/random/boot_id']);
    const status = { nodeInfo: { bootID }, conditions: [{ type: 'Ready', status: 'True' }] };
    await client.patch<KubeNode>(NODES, NODE, { status }, { subresource: 'status' });
    watch = startWatch(cluster.kubeconfig, vm.configFile, folder.path);
  }, LONG);
  afterAll(async () => {
    const exit = await watch?.stop();
    await cluster?.stop();
    await folder?.remove();
    expect(exit).toBe(0);
  }, LONG);

  test.each(USES.filter(([what]) => what === 'a RAID' || what === 'a group of logical volumes'))(
    '%s blocks the deletion until the command of `why` is run',
    async (what, script) => {
      const { client } = cluster;
      const name = what === 'a RAID' ? 'raid' : 'lvm';
      const volume = sparseVolume(name, NODE, '128Mi');
      await client.create<Volume>(VOLUMES, { ...volume, spec: { ...volume.spec, mode: 'Block' } });
      const device = await until(
        'the Volume has a device path',
        async () => (await client.get<Volume>(VOLUMES, name)).status?.devicePath,
        LONG,
      );
      await until('the device exists', async () =>
        (await vm.run(['test', '-e', device], { reject: false })).exitCode === 0 ? true : undefined,
      );
      await vm.run(['sh', '-ec', script, 'sh', device]);
      await client.delete(VOLUMES, name);
      const command = await until(
        'why names the command',
        async () => {
          const env = { KUBECONFIG: cluster.kubeconfig };
          const { stdout } = await execa('bin/stowage', ['why', `volume/${name}`, '-o', 'json'], {
            env,
          });
          const [run] = JSON.parse(stdout).fix?.run ?? [];
          return typeof run === 'string' && / (vgchange|mdadm) /.test(run.replaceAll("'", ' '))
            ? run
            : undefined;
        },
        LONG,
      );
      const ready = (await client.get<Volume>(VOLUMES, name)).status?.conditions?.find(
        ({ type }) => type === 'Ready',
      );
      expect(ready?.message).toMatch(/is in use: held by .*\. .* run on the node: /);
      // The command as printed, except for the ssh configuration of the VM.
      const typed = command.replace(/^ssh /, `ssh -F ${vm.configFile} `);
      await execa('sh', ['-c', typed]);
      await until(
        'the Volume is gone',
        async () => {
          const { items } = await client.list<Volume>(VOLUMES);
          return items.every(({ metadata }) => metadata.name !== name) || undefined;
        },
        LONG,
      );
      expect((await vm.run(['ls', FOLDER])).stdout).toBe('');
    },
    LONG,
  );
});
