import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  KubeEvent,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../src/api/core.ts';
import { ALL_CRDS } from '../../src/api/crds.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import {
  EVENTS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../src/api/resources.ts';
import { NAMESPACES } from '../../src/cli/install/kinds.ts';
import { run } from '../../src/cli/run.ts';
import { systemClock } from '../../src/control/clock.ts';
import { connect } from '../../src/kube/connect.ts';
import { isConflict, isNotFound } from '../../src/kube/errors.ts';
import { mountsIn } from '../../src/sandbox/controllers/mounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { fakeIo, type Outcome } from './fake-io.ts';
import { HELLO_CRD, helloReference } from './hello.ts';
import { until } from './until.ts';

/** Of users; and of the daemon. */
export const NAMESPACE = 'default';
export const OWN = 'stowage';

/** How a container ends: what it wrote into the volume; what it said when it failed; `undefined`: not yet. */
export type Ran = { files: Record<string, string> } | { failed: string } | undefined;

interface PodSpec {
  containers: { args?: string[]; env?: { name: string; value?: string }[] }[];
}
export type PopulatingPod = Pod & { spec: PodSpec };

/** As mountsIn has it. */
const targetIn = (folder: string, volume: string, pod: string) =>
  join(folder, 'pods', pod, 'volumes/kubernetes.io~local-volume', volume);

async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files))
    await writeFile(join(folder, name), text, { flush: true });
}

export type PopulationCluster = Awaited<ReturnType<typeof startPopulationCluster>>;

/**
 * A sandbox with the kind Hello, Nodes n1 and n2, a dynamic class of each binding mode, and a stand-in for what runs containers: `run`
 * says what becomes of one. It writes into PersistentVolumes in memory.
 */
export async function startPopulationCluster({
  crossNamespace = true,
  without = [] as string[],
  /** Where volumes are mounted in truth, and written to; else both are in memory. */
  mountsBelow = undefined as string | undefined,
} = {}) {
  const mounts = mountsBelow === undefined ? undefined : mountsIn(mountsBelow);
  const mounted = new Map<string, Set<string>>();
  const faults: string[] = [];
  const world = {
    run: (pod: PopulatingPod): Ran => {
      const [path = '', text = ''] = pod.spec.containers[0]?.args ?? [];
      return { files: { [path.replace('/target/', '')]: text } };
    },
    /** Before a volume is mounted; what it throws is why that fails. */
    mount: async (_volume: string): Promise<void> => {},
  };
  const crds = [...ALL_CRDS, HELLO_CRD].filter(({ spec }) => !without.includes(spec.names.kind));
  const sandbox = await startSandbox({
    crds: crds as never,
    featureGates: { CrossNamespaceVolumeDataSource: crossNamespace },
    scheduler: true,
    kubelet: {
      nodes: ['n1', 'n2'],
      mounts: {
        async mount(volume, pod) {
          const { name } = volume.metadata;
          await world.mount(name);
          await mounts?.mount(volume, pod);
          mounted.set(name, (mounted.get(name) ?? new Set()).add(pod));
        },
        async unmount(name, pod) {
          await mounts?.unmount(name, pod);
          mounted.get(name)?.delete(pod);
        },
      },
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'stowage-population-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const { client } = await connect({ kubeconfig });
  for (const name of [OWN, 'prod']) {
    await client.create<KubeObject>(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  for (const name of ['n1', 'n2']) {
    const metadata = { name, labels: { 'kubernetes.io/hostname': name } };
    await client.create<KubeNode>(NODES, { apiVersion: 'v1', kind: 'Node', metadata });
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    await client.patch(NODES, name, { status }, { subresource: 'status' });
  }

  const all = async <T extends KubeObject>(resource: Resource, namespace?: string) =>
    (await client.list<T>(resource, namespace === undefined ? {} : { namespace })).items;

  /** What is in volumes, by the name of the PersistentVolume. */
  const contents = new Map<string, Record<string, string>>();
  /** Each pod that was run, once. */
  const ran: PopulatingPod[] = [];
  const stopping = new AbortController();
  const running = runContainers();

  async function runContainers(): Promise<void> {
    const done = new Set<string>();
    while (!stopping.signal.aborted) {
      for (const pod of await all<PopulatingPod>(PODS, OWN)) await runContainer(pod, done);
      await sleep(50, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  async function runContainer(pod: PopulatingPod, done: Set<string>): Promise<void> {
    const { uid = '', name, deletionTimestamp } = pod.metadata;
    if (pod.status?.phase !== 'Running' || deletionTimestamp !== undefined || done.has(uid)) return;
    const end = world.run(pod);
    if (end === undefined) return;
    done.add(uid);
    ran.push(pod);
    const claimName = pod.spec.volumes?.find((volume) => volume.name === 'target')?.persistentVolumeClaim
      ?.claimName;
    const claim = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, claimName ?? '', {
      namespace: OWN,
    });
    const volume = claim.spec.volumeName ?? '';
    if (!mounted.get(volume)?.has(uid)) faults.push(`${name} ran without its volume`);
    const failed = 'failed' in end ? end.failed : undefined;
    if ('files' in end) {
      contents.set(volume, { ...contents.get(volume), ...end.files });
      if (mountsBelow !== undefined) await writeFiles(targetIn(mountsBelow, volume, uid), end.files);
    }
    const terminated =
      failed === undefined
        ? { exitCode: 0, reason: 'Completed' }
        : { exitCode: 1, reason: 'Error', message: failed };
    const status = {
      phase: failed === undefined ? 'Succeeded' : 'Failed',
      containerStatuses: [
        { name: 'populate', image: 'x', imageID: '', ready: false, restartCount: 0, state: { terminated } },
      ],
    };
    try {
      await client.patch(
        PODS,
        name,
        { metadata: { uid }, status },
        { namespace: OWN, subresource: 'status' },
      );
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  const createClass = (name: string, more: Partial<StorageClass> = {}) =>
    client.create<StorageClass>(STORAGE_CLASSES, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name },
      provisioner: 'volume.stowage.dev',
      parameters: { fsType: 'ext4' },
      volumeBindingMode: 'Immediate',
      ...more,
    });
  const createClaim = (
    name: string,
    more: { [K in keyof PersistentVolumeClaim['spec']]?: PersistentVolumeClaim['spec'][K] | undefined } = {},
    namespace = NAMESPACE,
  ) =>
    client.create<PersistentVolumeClaim>(
      PERSISTENT_VOLUME_CLAIMS,
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name, namespace },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'immediate',
          resources: { requests: { storage: '64Mi' } },
          dataSourceRef: helloReference('example'),
          ...more,
        } as PersistentVolumeClaim['spec'],
      },
      { namespace },
    );
  const claimNow = (name: string, namespace = NAMESPACE) =>
    client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, { namespace });
  const eventsOf = async (name: string, namespace = NAMESPACE) =>
    (await client.list<KubeEvent>(EVENTS, { namespace })).items.filter(
      ({ involvedObject }) => involvedObject.name === name,
    );
  /** Runs a command line against it. */
  async function stowage(...argv: string[]): Promise<Outcome> {
    const { io, outcome } = fakeIo({});
    outcome.code = await run(argv, {
      ...{ ...io, clock: systemClock },
      // Meant by the environment: what the command line says is in commands that are printed.
      connect: (flags) => connect({ ...flags, kubeconfig: flags?.kubeconfig ?? kubeconfig }),
    });
    return outcome;
  }
  return {
    client,
    kubeconfig,
    stowage,
    contents,
    ran,
    world,
    faults,
    mounted,
    createClass,
    createClaim,
    claimNow,
    eventsOf,
    all,
    gone: (resource: Resource, name: string, namespace?: string) =>
      until(`${resource.kind} ${name} is gone`, () =>
        client.get(resource, name, { namespace }).then(
          () => undefined,
          (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
        ),
      ),
    isTold: (name: string, text: string, namespace = NAMESPACE) =>
      until(`${name} is told ${text}`, async () =>
        (await eventsOf(name, namespace)).find(({ reason, message }) =>
          `${reason}: ${message}`.includes(text),
        ),
      ),
    isBound: (name: string, namespace = NAMESPACE) =>
      until(`${name} is bound`, async () => {
        const claim = await claimNow(name, namespace);
        return claim.status?.phase === 'Bound' ? claim : undefined;
      }),
    /** Nothing of the machine is there, and the claim is nobody's but the user's. */
    isClean: () =>
      until('nothing of the machine is left', async () => {
        const pods = await all(PODS, OWN);
        const primes = await all(PERSISTENT_VOLUME_CLAIMS, OWN);
        const claims = await all(PERSISTENT_VOLUME_CLAIMS);
        const held = claims.filter(({ metadata }) =>
          metadata.finalizers?.some((each) => each.startsWith('stowage')),
        );
        return pods.length + primes.length + held.length === 0 || undefined;
      }),
    persistentVolumes: () => all<PersistentVolume>(PERSISTENT_VOLUMES),
    isEmpty: () =>
      until('no volume is left', async () => {
        const left = [...(await all(PERSISTENT_VOLUMES)), ...(await all(VOLUMES))];
        return left.length === 0 || undefined;
      }),
    async stop() {
      stopping.abort();
      await running;
      await sandbox.stop();
      await rm(folder, { recursive: true });
    },
  };
}
