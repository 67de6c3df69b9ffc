import { execa } from 'execa';
import type { PersistentVolume, StorageClass } from '../../../src/api/core.ts';
import { PERSISTENT_VOLUMES, STORAGE_CLASSES, VOLUMES } from '../../../src/api/resources.ts';
import type { Condition, Volume, VolumeSpec } from '../../../src/api/volume.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import { startCluster, type TestCluster } from '../../support/cluster.ts';
import type { Backing, Content } from '../../support/kinds.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { onNode } from './node.ts';
import { startVm, type Vm } from './vm.ts';
import { startWatch, type Watch } from './watch.ts';

/** The name of the VM as a node. */
export const NODE = 'vm1';

/** Programs take their time where all is emulated, and more on a busy machine. */
export const CONVERGES_WITHIN = 600_000;

/** An API server, the daemon, and a VM that is its node. */
export interface Scene {
  vm: Vm;
  node: ReturnType<typeof onNode>;
  cluster: TestCluster;
  watch: Watch;
  stowage(...args: string[]): Promise<{ exitCode?: number | undefined; stdout: string; stderr: string }>;
  /** The path of a device for a volume of that kind; undefined for a file. */
  deviceFor(backing: Backing): string | undefined;
  create(name: string, backing: Backing, content: Content, more?: Partial<VolumeSpec>): Promise<Volume>;
  get(name: string): Promise<Volume>;
  /** Changes its spec. */
  patch(name: string, spec: Partial<VolumeSpec>): Promise<Volume>;
  pv(name: string): Promise<PersistentVolume>;
  /** Waits for a Ready condition of that status. */
  ready(name: string, status: Condition['status'], withinMs?: number): Promise<Volume>;
  gone(name: string): Promise<true>;
  /** Runs a test; if it fails, prints what the VM's console and the daemon said last. */
  told(work: () => Promise<void>): () => Promise<void>;
  stop(): Promise<void>;
}

export const readyOf = (volume: Volume) => volume.status?.conditions?.find(({ type }) => type === 'Ready');

/** The VM has an empty disk, and one with two partitions. */
export async function startScene(): Promise<Scene> {
  const folder = await temporaryFolder('scene');
  const cluster = await startCluster();
  const vm = await startVm({ name: NODE, disks: { whole: '1G', parted: '2G' } });
  const node = onNode(vm);
  await vm.run(['sgdisk', '--new=1:0:+900M', '--new=2:0:+900M', vm.disk('parted')]);
  await vm.run(['udevadm', 'settle', `--exit-if-exists=${vm.disk('parted')}-part2`]);
  const watch = startWatch(cluster.kubeconfig, vm.configFile, folder.path);
  const local = await cluster.client.get<StorageClass>(STORAGE_CLASSES, 'local');
  await cluster.client.create<StorageClass>(STORAGE_CLASSES, {
    ...local,
    metadata: { name: 'local-xfs' },
    parameters: { fsType: 'xfs' },
  });

  const get = (name: string) => cluster.client.get<Volume>(VOLUMES, name);
  const paths = { 'sparse file': undefined, disk: vm.disk('whole'), partition: `${vm.disk('parted')}-part1` };

  return {
    ...{ vm, node, cluster, watch, get },
    stowage: (...args) =>
      execa('bin/stowage', args, { env: { KUBECONFIG: cluster.kubeconfig }, reject: false }),
    deviceFor: (backing) => paths[backing],
    create(name, backing, content, more = {}) {
      const devicePath = paths[backing];
      return cluster.client.create<Volume>(VOLUMES, {
        apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
        kind: 'Volume',
        metadata: { name },
        spec: {
          nodeName: NODE,
          storageClassName: content === 'xfs' ? 'local-xfs' : 'local',
          mode: content === 'Block' ? 'Block' : 'Filesystem',
          ...(devicePath === undefined
            ? { sparseLoopDevice: { size: '304Mi' } }
            : { rawBlockDevice: { devicePath } }),
          ...more,
        },
      });
    },
    patch: (name, spec) => cluster.client.patch<Volume>(VOLUMES, name, { spec }),
    pv: (name) => cluster.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name),
    ready: (name, status, withinMs = CONVERGES_WITHIN) =>
      until(`${name} Ready=${status}`, withinMs, async () => {
        const volume = await get(name);
        return readyOf(volume)?.status === status ? volume : undefined;
      }),
    gone: (name) =>
      until(`${name} gone`, CONVERGES_WITHIN, () =>
        get(name).then(
          () => undefined,
          (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
        ),
      ),
    told: (work) => async () => {
      try {
        await work();
      } catch (error) {
        const console = (await vm.console()).split('\n').slice(-40).join('\n');
        process.stderr.write(`\nThe VM's console:\n${console}\nThe daemon:\n${await watch.log()}\n`);
        throw error;
      }
    },
    async stop() {
      const exit = await watch.stop();
      await vm.stop();
      await cluster.stop();
      await folder.remove();
      if (exit !== 0) throw new Error(`stowage watch ended with ${exit}`);
    },
  };
}
