import type {
  DataSourceReference,
  KubeEvent,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { SNAPSHOT_GROUP } from '../../src/api/names.ts';
import { parseQuantity } from '../../src/api/quantity.ts';
import {
  EVENTS,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type {
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from '../../src/api/snapshot.ts';
import type { Volume } from '../../src/api/volume.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { DIRECTORIES, directoryPartial } from '../../src/storage/records.ts';
import { startClaimsCluster } from './claims-cluster.ts';
import { until } from './until.ts';
import { type WorkingNodes, workingNodes } from './working-nodes.ts';

const FOLDER = '/var/lib/metalk8s/storage/sparse';
const isDirectoryRecord = (path: string) =>
  path.startsWith(`${DIRECTORIES}/`) && !path.endsWith('.new');

/** Key of an object: `NAMESPACE/NAME`, or `/NAME` without a namespace. */
export type Key = `${string}/${string}`;

/**
 * Expected claims and snapshots. `data` is the content of a volume, undefined for an empty file
 * system.
 */
export interface Whole {
  claims: Record<Key, { data: string | undefined; size: string }>;
  snapshots: Record<Key, string | undefined>;
}

/**
 * Sandbox with the namespaces prod, test and other, nodes in memory, and functions to create and
 * observe claims, snapshots and grants. No controller runs yet.
 */
export type ClaimWorld = Awaited<ReturnType<typeof startClaimWorld>>;

export async function startClaimWorld({
  scheduler = false,
  nodeNames = ['n1'],
  crossNamespace = true,
} = {}) {
  const cluster = await startClaimsCluster({ crossNamespace, scheduler });
  const { client } = cluster;
  const nodes: WorkingNodes = workingNodes();
  for (const name of nodeNames) {
    const metadata = { name, labels: { 'kubernetes.io/hostname': name } };
    await client.create<KubeNode>(NODES, { apiVersion: 'v1', kind: 'Node', metadata });
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    await client.patch(NODES, name, { status }, { subresource: 'status' });
  }
  return {
    ...{ client, nodes, cluster },
    ...makers(client),
    ...lookers(client, nodes, nodeNames),
    stop: () => cluster.stop(),
  };
}

const split = (key: string) => {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};

export const toSnapshot = (key: Key): DataSourceReference => ({
  ...{ apiGroup: SNAPSHOT_GROUP, kind: 'VolumeSnapshot' },
  ...split(key),
});

function makers(client: KubeClient) {
  const create = <T extends KubeObject>(resource: Resource, object: T): Promise<T> =>
    client.create<T>(resource, object, { namespace: object.metadata.namespace });
  return {
    createNamespace: (name: string) =>
      create<KubeObject>(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    createClass: (name: string, more: Partial<StorageClass> = {}) =>
      create<StorageClass>(STORAGE_CLASSES, {
        ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name } },
        ...{ provisioner: 'volume.stowage.dev', parameters: { fsType: 'ext4' } },
        ...{ volumeBindingMode: 'Immediate', allowVolumeExpansion: true, ...more },
      }),
    createSnapshotClass: (name: string) =>
      create<VolumeSnapshotClass>(VOLUME_SNAPSHOT_CLASSES, {
        ...{
          apiVersion: 'snapshot.storage.k8s.io/v1',
          kind: 'VolumeSnapshotClass',
          metadata: { name },
        },
        ...{ driver: 'volume.stowage.dev', deletionPolicy: 'Delete' },
      }),
    createClaim: (key: Key, spec: Partial<PersistentVolumeClaim['spec']> = {}) =>
      create<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, {
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: split(key) },
        spec: {
          ...{ accessModes: ['ReadWriteOnce'], storageClassName: 'fast' },
          resources: { requests: { storage: '1Gi' } },
          ...spec,
        },
      }),
    createSnapshot: (key: Key, claim: string, snapshotClass = 'fast') =>
      create<VolumeSnapshot>(VOLUME_SNAPSHOTS, {
        ...{
          apiVersion: 'snapshot.storage.k8s.io/v1',
          kind: 'VolumeSnapshot',
          metadata: split(key),
        },
        spec: {
          source: { persistentVolumeClaimName: claim },
          volumeSnapshotClassName: snapshotClass,
        },
      }),
    createLink: (key: Key, source: VolumeSnapshotLink['spec']['source']) =>
      create<VolumeSnapshotLink>(VOLUME_SNAPSHOT_LINKS, {
        ...{ apiVersion: 'snapshot.storage.k8s.io/v1alpha1', kind: 'VolumeSnapshotLink' },
        ...{ metadata: split(key), spec: { source } },
      }),
    /**
     * Creates a grant: by default for claims and links of `to`, to all snapshots of its namespace.
     */
    createGrant: (key: Key, to: string, spec: Partial<ReferenceGrant['spec']> = {}) =>
      create<ReferenceGrant>(REFERENCE_GRANTS, {
        ...{
          apiVersion: 'gateway.networking.k8s.io/v1',
          kind: 'ReferenceGrant',
          metadata: split(key),
        },
        spec: {
          from: [
            { group: '', kind: 'PersistentVolumeClaim', namespace: to },
            { group: SNAPSHOT_GROUP, kind: 'VolumeSnapshotLink', namespace: to },
          ],
          to: [{ group: SNAPSHOT_GROUP, kind: 'VolumeSnapshot' }],
          ...spec,
        },
      }),
    createPod: (key: Key, claimName: string) =>
      create<Pod>(PODS, {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: split(key) },
        spec: {
          containers: [{ name: 'c', image: 'x' }],
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
        },
      } as unknown as Pod),
    remove: (resource: Resource, key: string) => {
      const { namespace, name } = split(key);
      return client.delete(resource, name, namespace === '' ? {} : { namespace });
    },
  };
}

function lookers(client: KubeClient, nodes: WorkingNodes, nodeNames: readonly string[]) {
  async function find<T extends KubeObject>(
    resource: Resource,
    key: string,
  ): Promise<T | undefined> {
    const { namespace, name } = split(key);
    try {
      return await client.get<T>(resource, name, namespace === '' ? {} : { namespace });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
  const claim = (key: Key) => find<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, key);
  const all = async <T extends KubeObject>(resource: Resource) =>
    (await client.list<T>(resource, {})).items;

  const byKey = async <T extends KubeObject>(resource: Resource): Promise<Map<string, T>> =>
    new Map(
      (await all<T>(resource)).map((each) => [
        `${each.metadata.namespace ?? ''}/${each.metadata.name}`,
        each,
      ]),
    );

  const file = (path: string) =>
    nodeNames.map((name) => nodes.disk(name).files.get(path)).find((each) => each !== undefined);
  const snapshotPath = (contentUid = '') => `${FOLDER}/snapshots/${contentUid}`;

  /** Returns the file of a bound claim. */
  async function fileOf(key: Key) {
    const found = await claim(key);
    const volume = await find<Volume>(VOLUMES, `/${found?.spec.volumeName}`);
    return file(`${FOLDER}/${volume?.metadata.uid}`);
  }

  /** Names of all files and loop devices, without the records of directories, which remain. */
  const stored = () =>
    nodeNames.flatMap((name) => {
      const disk = nodes.disk(name);
      return [
        ...disk.volumeFiles('/').map((path) => `${name} ${path}`),
        ...[...disk.files.keys()]
          .filter((path) => path.startsWith('/var/lib/stowage/') && !isDirectoryRecord(path))
          .map((path) => `${name} ${path}`),
        ...[...disk.loops.values()].map((loop) => `${name} loop ${loop.file}`),
      ];
    });

  /**
   * Returns the first difference from the expected state, including unexpected objects and files,
   * or undefined.
   */
  async function whatIsWrong({ claims, snapshots }: Whole): Promise<string | undefined> {
    const expected = new Set<string>();
    const allowed = new Set<string>();
    const claimsNow = await byKey<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS);
    const snapshotsNow = await byKey<VolumeSnapshot>(VOLUME_SNAPSHOTS);
    const volumes = await byKey<Volume>(VOLUMES);
    const pvs = await byKey<PersistentVolume>(PERSISTENT_VOLUMES);
    const contents = await byKey<VolumeSnapshotContent>(VOLUME_SNAPSHOT_CONTENTS);
    for (const [key, { data, size }] of Object.entries(claims)) {
      const found = claimsNow.get(key);
      const { uid, finalizers = [] } = found?.metadata ?? {};
      const name = `pvc-${uid}`;
      if (found?.status?.phase !== 'Bound' || found.spec.volumeName !== name)
        return `${key} is not bound`;
      const has = found.status.capacity?.storage ?? '0';
      if (parseQuantity(has) !== parseQuantity(size)) return `${key} has ${has}`;
      if ((found.status.conditions ?? []).length > 0) return `${key} has conditions`;
      if (finalizers.some((each) => each.startsWith('snapshot.')))
        return `${key} is held as a source`;
      const volume = volumes.get(`/${name}`);
      const ready = volume?.status?.conditions?.find(({ type }) => type === 'Ready');
      if (volume?.status?.phase !== 'Available' || ready?.status !== 'True')
        return `${name} is not Available`;
      if (!volume.status.job?.endsWith('/DONE'))
        return `the job of ${name} is ${volume.status.job}`;
      const pv = pvs.get(`/${name}`);
      if (pv?.status?.phase !== 'Bound' || pv.spec.claimRef?.uid !== uid)
        return `PV ${name} is not bound`;
      const path = `${FOLDER}/${volume.metadata.uid}`;
      const node = volume.status.prepared?.node;
      const there = file(path);
      if (there === undefined || !('uuid' in there)) return `${key} has no file`;
      if (there.uuid !== volume.metadata.uid) return `${key} has the UUID ${there.uuid}`;
      if (there.data !== data) throw new Error(`${key} holds ${there.data}, not ${data}`);
      if (there.torn) throw new Error(`${key} is torn`);
      expected.add(`${node} ${path}`).add(`${node} loop ${path}`);
      for (const record of ['intent', 'done']) {
        expected.add(`${node} /var/lib/stowage/volumes/${volume.metadata.uid}.${record}`);
      }
      // Left if another Volume's job recorded the directory first.
      allowed.add(`${node} ${directoryPartial(volume.metadata.uid ?? '')}`);
    }
    for (const [key, data] of Object.entries(snapshots)) {
      const found = snapshotsNow.get(key);
      if (!found?.status?.readyToUse)
        return `snapshot ${key} is not ready: ${found?.status?.error?.message}`;
      const content = contents.get(`/${found.status.boundVolumeSnapshotContentName}`);
      if (content?.spec.volumeSnapshotRef.uid !== found.metadata.uid)
        return `${key} has no content`;
      const path = snapshotPath(content?.metadata.uid);
      const there = file(path);
      if (there === undefined || !('uuid' in there) || there.uuid !== content?.metadata.uid) {
        return `${key} has no copy`;
      }
      if (there.data !== data) throw new Error(`${key} holds ${there.data}, not ${data}`);
      expected.add(`${nodeNames.find((name) => nodes.disk(name).files.has(path))} ${path}`);
    }
    const count = (what: string, there: number, wanted: number) =>
      there === wanted ? undefined : `${there} ${what} are there instead of ${wanted}`;
    const wanted = Object.keys(claims).length;
    const kept = Object.keys(snapshots).length;
    const found = new Set(stored());
    return (
      count('Volumes', volumes.size, wanted) ??
      count('PersistentVolumes', pvs.size, wanted) ??
      count('claims', claimsNow.size, wanted) ??
      count('snapshots', snapshotsNow.size, kept) ??
      count('contents', contents.size, kept) ??
      [...found]
        .filter((each) => !(expected.has(each) || allowed.has(each)))
        .map((each) => `${each} is left`)[0] ??
      [...expected].filter((each) => !found.has(each)).map((each) => `${each} is missing`)[0]
    );
  }

  return {
    ...{ find, claim, all, file, fileOf, snapshotPath, stored, whatIsWrong },
    /** Waits until there is no difference from the expected state. */
    async isWhole(whole: Whole, withinMs?: number): Promise<void> {
      let wrong: string | undefined;
      await until(
        'all is as it is to be',
        async () => {
          wrong = await whatIsWrong(whole);
          return wrong === undefined ? true : undefined;
        },
        withinMs,
      ).catch((cause) => {
        throw new Error(wrong ?? (cause as Error).message, { cause });
      });
    },
    isBound: (key: Key) =>
      until(`${key} is bound`, async () => {
        const found = await claim(key);
        return found?.status?.phase === 'Bound' ? found : undefined;
      }),
    isReady: (key: Key) =>
      until(`${key} is ready`, async () => {
        const found = await find<VolumeSnapshot>(VOLUME_SNAPSHOTS, key);
        return found?.status?.readyToUse ? found : undefined;
      }),
    /** Writes data into the volume of a bound claim. */
    async write(key: Key, data: string): Promise<void> {
      Object.assign((await fileOf(key)) as object, { data });
    },
    eventsOf: async (key: Key): Promise<KubeEvent[]> => {
      const { namespace, name } = split(key);
      const { items } = await client.list<KubeEvent>(EVENTS, { namespace });
      return items.filter(({ involvedObject }) => involvedObject.name === name);
    },
  };
}
