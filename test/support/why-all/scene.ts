import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../src/api/core.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { VolumeSnapshot } from '../../../src/api/snapshot.ts';
import type { Volume, VolumeSpec } from '../../../src/api/volume.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { SPARSE_DIRECTORY } from '../../../src/storage/loopfile/file.ts';
import { createClass, createNode, createSnapshotClass } from '../claim-objects.ts';
import { type ClaimsCluster, startClaimsCluster } from '../claims-cluster.ts';
import { LOCAL_CLASS, sparseVolume } from '../cluster.ts';
import { loopsBelow } from '../device-mounts.ts';
import { type Disk, makeDisk } from '../disks.ts';
import { removeTraces } from '../remove-traces.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { ensureUdev } from '../udev.ts';
import { until } from '../until.ts';
import { onNode } from '../volumes.ts';
import { type Person, person } from '../why.ts';

/** Cluster with a daemon on this machine, which is the node n1, and with real devices. */
export interface Scene {
  cluster: ClaimsCluster;
  client: KubeClient;
  /** Directory of all files: `static` of static Volumes, `dynamic` of Volumes for claims. */
  folder: string;
  /** Directory of programs that take precedence, for the daemon. */
  bin: string;
  someone: Person;
  /** Runs a line of sh on this machine. */
  sh(line: string): Promise<string>;
  apply(object: object): Promise<unknown>;
  patch(resource: Resource, name: string, patch: object, more?: object): Promise<unknown>;
  /** Creates a static Volume, by default of 10Mi in a file. */
  volume(name: string, spec?: Partial<VolumeSpec>, metadata?: object): Promise<Volume>;
  available(name: string): Promise<Volume>;
  uid(name: string): Promise<string>;
  /** Creates a claim in the namespace test, by default of 10Mi with the class fast. */
  claim(name: string, spec?: object, metadata?: object): Promise<PersistentVolumeClaim>;
  bound(name: string): Promise<PersistentVolumeClaim>;
  pod(name: string, claim: string, spec?: object): Promise<Pod>;
  snapshot(name: string, source: object, snapshotClass?: string): Promise<VolumeSnapshot>;
  ready(name: string): Promise<VolumeSnapshot>;
  /** Creates a PersistentVolume that is not Stowage's, for a claim if one is given. */
  foreignPv(name: string, storageClassName: string, claim?: string): Promise<PersistentVolume>;
  /** Creates a directory with its own file system. */
  tmpfs(name: string, size: string): Promise<string>;
  disk(name: string): Promise<Disk>;
  disks: ReadonlyMap<string, Disk>;
  /** Prefix of the paths of the scene's disks. */
  byId: string;
  /** Attaches a loop device to a device. */
  stack(device: string): Promise<void>;
  unstack(): Promise<void>;
  /** Restarts the daemon with an additional flag. */
  watch(flag: string, value: string): Promise<void>;
  end(): Promise<void>;
}

export const NAMESPACE = 'test';
const options = { namespace: NAMESPACE };

export async function startScene(): Promise<Scene> {
  const stopUdev = await ensureUdev();
  const folder = await temporaryDirectory('why-all');
  const bin = join(folder.path, 'bin');
  await mkdir(bin);
  const cluster = await startClaimsCluster({ crossNamespace: true, scheduler: true });
  const { client } = cluster;
  const someone = await person(cluster.kubeconfig);
  // Every node is this machine.
  await someone.program('ssh', 'shift; exec sh -c "$*"');
  const disks = new Map<string, Disk>();
  const flags = new Map([
    ['--transport', 'local'],
    ['--snapshot-controller', 'builtin'],
    ['--attachment-poll-interval', '1s'],
    ['--retry-interval-start', '4s'],
    ['--retry-interval-max', '8s'],
  ]);
  const uids = new Map<string, string>();
  let stopWatch: () => Promise<void> = async () => {};
  const [files, dynamic] = [join(folder.path, 'static'), join(folder.path, 'dynamic')];

  for (const name of ['n1', 'n2']) await createNode(client, name);
  await client.create(STORAGE_CLASSES, LOCAL_CLASS);
  await createClass(client, 'fast', dynamic, 'ext4');
  await createClass(client, 'waits', dynamic, 'ext4', {
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await createSnapshotClass(client, 'fast');

  const sh = async (line: string) => (await execa('sh', ['-euc', line])).stdout;
  const noteUids = async () => {
    for (const { metadata } of (await client.list<Volume>(VOLUMES)).items)
      uids.set(metadata.uid ?? '', metadata.name);
  };
  const is = <T extends KubeObject>(
    what: string,
    resource: Resource,
    name: string,
    isIt: (object: T) => boolean | undefined,
  ): Promise<T> => {
    let last: T | undefined;
    return until(
      `${resource.kind} ${name} is ${what}`,
      async () => {
        last = await client.get<T>(resource, name, resource.namespaced ? options : {});
        return isIt(last) ? last : undefined;
      },
      60_000,
    ).catch(async (cause: Error) => {
      const { namespace } = last?.metadata ?? {};
      const { holdup } = await someone.why(
        `${resource.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`,
      );
      throw new Error(`${cause.message}: ${holdup}`, { cause });
    });
  };

  let stacked: string | undefined;
  async function unstack(): Promise<void> {
    if (stacked !== undefined) await sh(`losetup -d ${stacked}`);
    stacked = undefined;
  }
  const byId = `/dev/disk/by-id/stowage-test-${basename(folder.path)}`;

  return {
    ...{ byId, unstack },
    async stack(device) {
      stacked = await sh(`losetup --find --show ${device}`);
    },
    ...{ cluster, client, folder: folder.path, bin, someone, sh, disks },
    apply: (object) => someone.shell('kubectl create -f -', JSON.stringify(object)),
    patch: (resource, name, patch, more = {}) =>
      client.patch(resource, name, patch, { ...(resource.namespaced && options), ...more }),
    volume(name, spec = {}, metadata = {}) {
      const made = sparseVolume(name, 'n1', '10Mi');
      return client.create<Volume>(VOLUMES, {
        ...made,
        metadata: { name, ...metadata },
        spec: { ...made.spec, sparseLoopDevice: { size: '10Mi', directory: files }, ...spec },
      });
    },
    available: (name) =>
      is<Volume>('Available', VOLUMES, name, ({ status }) => status?.phase === 'Available'),
    uid: async (name) => (await client.get<Volume>(VOLUMES, name)).metadata.uid ?? '',
    claim: (name, spec = {}, metadata = {}) =>
      client.create<PersistentVolumeClaim>(
        PERSISTENT_VOLUME_CLAIMS,
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name, ...metadata },
          spec: {
            ...{ accessModes: ['ReadWriteOnce'], storageClassName: 'fast' },
            resources: { requests: { storage: '10Mi' } },
            ...spec,
          },
        },
        options,
      ),
    bound: (name) =>
      is<PersistentVolumeClaim>(
        'Bound',
        PERSISTENT_VOLUME_CLAIMS,
        name,
        ({ status }) => status?.phase === 'Bound',
      ),
    pod: (name, claimName, spec = {}) =>
      client.create<Pod>(
        PODS,
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name },
          spec: {
            containers: [{ name: 'c', image: 'x' }],
            volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
            ...spec,
          },
        } as Pod,
        options,
      ),
    snapshot: (name, source, volumeSnapshotClassName = 'fast') =>
      client.create<VolumeSnapshot>(
        VOLUME_SNAPSHOTS,
        {
          apiVersion: 'snapshot.storage.k8s.io/v1',
          kind: 'VolumeSnapshot',
          metadata: { name },
          spec: { source, volumeSnapshotClassName } as VolumeSnapshot['spec'],
        },
        options,
      ),
    ready: (name) =>
      is<VolumeSnapshot>('ready', VOLUME_SNAPSHOTS, name, ({ status }) => status?.readyToUse),
    foreignPv: (name, storageClassName, claim) =>
      client.create<PersistentVolume>(PERSISTENT_VOLUMES, {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name },
        spec: {
          capacity: { storage: '10Mi' },
          accessModes: ['ReadWriteOnce'],
          storageClassName,
          local: { path: '/srv' },
          nodeAffinity: onNode('n1'),
          ...(claim !== undefined && {
            claimRef: {
              ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
              ...{ namespace: NAMESPACE, name: claim },
            },
          }),
        },
      } as PersistentVolume),
    async tmpfs(name, size) {
      const path = join(folder.path, name);
      await mkdir(path, { recursive: true });
      await sh(`mount -t tmpfs -o size=${size},mode=0700 tmpfs ${path}`);
      return path;
    },
    async disk(name) {
      const made = await makeDisk(folder.path, name, 64n << 20n);
      disks.set(name, made);
      return made;
    },
    async watch(flag, value) {
      await stopWatch();
      flags.set(flag, value);
      const daemon = execa('bin/stowage', ['watch', ...[...flags].flat()], {
        env: { KUBECONFIG: cluster.kubeconfig, PATH: `${bin}:${process.env.PATH}` },
        stderr: { file: join(folder.path, 'log'), append: true },
        reject: false,
      });
      stopWatch = async () => {
        daemon.kill('SIGTERM');
        await daemon;
      };
    },
    async end() {
      await noteUids().catch(() => {});
      await stopWatch();
      await cluster.stop();
      await someone.leave();
      const unmount = async (type: string) => {
        const { stdout } = await execa('findmnt', ['-rn', '-t', type, '-o', 'TARGET'], {
          reject: false,
        });
        for (const path of stdout.split('\n').filter((each) => each.startsWith(`${folder.path}/`)))
          await execa('umount', [path], { reject: false });
      };
      await unmount('ext4');
      await unstack();
      await sh(`rm -f ${byId}-*`);
      for (const loop of await loopsBelow(folder.path))
        await execa('losetup', ['-d', loop], { reject: false });
      for (const each of disks.values()) await each.remove();
      await unmount('tmpfs');
      for (const uid of uids.keys()) {
        for (const directory of [files, dynamic, SPARSE_DIRECTORY])
          await removeTraces(uid, join(directory, uid));
      }
      await folder.remove();
      await stopUdev();
    },
  };
}
