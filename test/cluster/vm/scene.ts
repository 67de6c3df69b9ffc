import { execa } from 'execa';
import type { KubeNode, PersistentVolume, StorageClass } from '../../../src/api/core.ts';
import { NODES, PERSISTENT_VOLUMES, STORAGE_CLASSES, VOLUMES } from '../../../src/api/resources.ts';
import type { Condition, Volume, VolumeSpec } from '../../../src/api/volume.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import { startCluster, type TestCluster } from '../../support/cluster.ts';
import type { Content } from '../../support/kinds.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { onNode } from './node.ts';
import { DISKS, type Kind, makePlaces, type Place, placeOf, tagged } from './places.ts';
import { startVm, type Vm } from './vm.ts';
import { startWatch, type Watch } from './watch.ts';

/** Node name of the VM. */
export const NODE = 'vm1';

/** Timeout in ms: emulated programs are slow, especially on a busy machine. */
export const CONVERGES_WITHIN = 600_000;

/** An API server, the daemon, and a VM that is its node. */
export interface Scene {
  vm: Vm;
  node: ReturnType<typeof onNode>;
  cluster: TestCluster;
  watch: Watch;
  stowage(
    ...args: string[]
  ): Promise<{ exitCode?: number | undefined; stdout: string; stderr: string }>;
  /** Returns the storage of a kind. Two of each device exist. */
  placeOf(kind: Kind, which?: 'first' | 'second'): Place;
  create(name: string, place: Place, content: Content, more?: Partial<VolumeSpec>): Promise<Volume>;
  /**
   * Returns files, records, jobs, links, loop devices and logical volumes of a Volume on the node.
   */
  tracesOf(uid: string): Promise<string[]>;
  get(name: string): Promise<Volume>;
  /** Requests a larger file or logical volume, without waiting for it. */
  grow(name: string): Promise<void>;
  /** Waits until the PersistentVolume has the size that `grow` requests. */
  grown(name: string): Promise<void>;
  /** Waits for a Ready condition with that status. */
  ready(name: string, status: Condition['status'], withinMs?: number): Promise<Volume>;
  gone(name: string): Promise<void>;
  /** Updates the Node as a kubelet does when it starts. */
  kubeletStarts(): Promise<void>;
  /** Throws if the daemon ever set the phase Failed. */
  noneFailed(): Promise<void>;
  /** Runs a test. If it fails, prints the last output of the VM's console and the daemon. */
  told(work: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export const readyOf = (volume: Volume) =>
  volume.status?.conditions?.find(({ type }) => type === 'Ready');

export const GROWN = '608Mi';

/**
 * Starts the scene. The VM has two empty disks, one with two partitions, and one with a volume
 * group.
 */
export async function startScene(): Promise<Scene> {
  const folder = await temporaryDirectory('scene');
  const cluster = await startCluster();
  const vm = await startVm({ name: NODE, disks: DISKS });
  const node = onNode(vm);
  await makePlaces(vm);
  const watch = startWatch(cluster.kubeconfig, vm.configFile, folder.path);
  const local = await cluster.client.get<StorageClass>(STORAGE_CLASSES, 'local');
  await cluster.client.create<StorageClass>(STORAGE_CLASSES, {
    ...local,
    metadata: { name: 'local-xfs' },
    parameters: { fsType: 'xfs' },
  });
  await cluster.client.create<KubeNode>(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: NODE, labels: { 'kubernetes.io/hostname': NODE } },
  });

  const get = (name: string) => cluster.client.get<Volume>(VOLUMES, name);

  return {
    ...{ vm, node, cluster, watch, get },
    stowage: (...args) =>
      execa('bin/stowage', args, { env: { KUBECONFIG: cluster.kubeconfig }, reject: false }),
    placeOf: (kind, which = 'first') => placeOf(vm, kind, which),
    tracesOf: async (uid) => [...(await node.tracesOf(uid)), ...(await tagged(vm, uid))],
    create: (name, place, content, more = {}) =>
      cluster.client.create<Volume>(VOLUMES, {
        apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
        kind: 'Volume',
        metadata: { name },
        spec: {
          nodeName: NODE,
          storageClassName: content === 'xfs' ? 'local-xfs' : 'local',
          mode: content === 'Block' ? 'Block' : 'Filesystem',
          ...place,
          ...more,
        },
      }),
    async grow(name) {
      const { spec } = await get(name);
      const type = spec.lvmLogicalVolume === undefined ? 'sparseLoopDevice' : 'lvmLogicalVolume';
      await cluster.client.patch<Volume>(VOLUMES, name, { spec: { [type]: { size: GROWN } } });
    },
    async grown(name) {
      await until(
        `${name} has grown`,
        async () => {
          const { spec } = await cluster.client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
          return spec.capacity.storage === GROWN ? true : undefined;
        },
        CONVERGES_WITHIN,
      );
    },
    ready: (name, status, withinMs = CONVERGES_WITHIN) =>
      until(
        `${name} Ready=${status}`,
        async () => {
          const volume = await get(name);
          return readyOf(volume)?.status === status ? volume : undefined;
        },
        withinMs,
      ),
    async gone(name) {
      await until(
        `${name} gone`,
        () =>
          get(name).then(
            () => undefined,
            (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
          ),
        CONVERGES_WITHIN,
      );
    },
    async kubeletStarts() {
      const { stdout: bootID } = await vm.run(['cat', '/proc/sys/kernel/random/boot_id']);
      const status = { nodeInfo: { bootID }, conditions: [{ type: 'Ready', status: 'True' }] };
      await cluster.client.patch<KubeNode>(NODES, NODE, { status }, { subresource: 'status' });
    },
    async noneFailed() {
      const failed = (await watch.statuses()).filter(({ phase }) => phase === 'Failed');
      if (failed.length > 0) throw new Error(`set to Failed: ${JSON.stringify(failed)}`);
    },
    async told(work) {
      try {
        await work();
      } catch (error) {
        const console = (await vm.console()).split('\n').slice(-40).join('\n');
        process.stderr.write(
          `\nThe VM's console:\n${console}\nThe daemon:\n${await watch.log()}\n`,
        );
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
