import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  KubeEvent,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../src/api/core.ts';
import { ALL_CRDS } from '../../src/api/crds.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import {
  EVENTS,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  POPULATOR_DEFINITIONS,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
  VOLUMES,
} from '../../src/api/resources.ts';
import { run } from '../../src/cli/run.ts';
import { connect } from '../../src/kube/connect.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { createNode, dynamicClass } from './claim-objects.ts';
import { startController, type TestController, type TestControllerOptions } from './controller.ts';
import { fakeIo, type Outcome } from './fake-io.ts';
import {
  HELLO_CRD,
  HELLO_DEFINITION,
  HELLO_POPULATOR,
  HELLOS,
  hello,
  helloReference,
} from './hello.ts';
import { populatingContainers } from './populating-containers.ts';
import { standIns } from './sandbox/components.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';
import { workingNodes } from './working-nodes.ts';

/** Namespaces of users, and of the daemon. */
export const NAMESPACE = 'default';
export const OWN = 'stowage';

/**
 * Returns a grant that allows claims of `default` to use objects of a kind in `prod`: one by name,
 * or all.
 */
export const populatorGrant = ({ group, kind }: Resource, name?: string) =>
  ({
    ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'ReferenceGrant' },
    metadata: { name: 'to-default', namespace: 'prod' },
    spec: {
      from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: NAMESPACE }],
      to: [{ group, kind, ...(name !== undefined && { name }) }],
    },
  }) as KubeObject;

/** Returns a user's pod with a claim. */
export const podOf = (claimName: string, nodeSelector?: object) =>
  ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'user', namespace: NAMESPACE } },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
      ...(nodeSelector && { nodeSelector }),
    },
  }) as KubeObject;

export type PopulationCluster = Awaited<ReturnType<typeof startPopulationCluster>>;

export interface PopulationOptions {
  crossNamespace?: boolean;
  /** Kinds that are not served. */
  without?: readonly string[];
  /** Directory of mounted volumes and their files. Default: all are in memory. */
  mountsBelow?: string;
}

/**
 * Starts a sandbox with the kind Hello, the Nodes n1 and n2, and a model of the container runtime.
 * The daemon runs from `startDaemon` to `stop`.
 */
export async function startPopulationCluster({
  crossNamespace = true,
  without = [],
  mountsBelow,
}: PopulationOptions = {}) {
  const { mounts, ...containers } = populatingContainers(OWN, mountsBelow);
  const crds = [...ALL_CRDS, HELLO_CRD].filter(({ spec }) => !without.includes(spec.names.kind));
  const sandbox = await startSandbox({
    crds: crds as never,
    featureGates: { CrossNamespaceVolumeDataSource: crossNamespace },
    ...standIns({ scheduler: true, kubelet: { nodes: ['n1', 'n2'], mounts } }),
  });
  const folder = await temporaryDirectory('population');
  const kubeconfig = join(folder.path, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const { client } = await connect({ kubeconfig });
  for (const name of [OWN, 'prod']) {
    await client.create<KubeObject>(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }
  for (const name of ['n1', 'n2']) await createNode(client, name);
  containers.start(client);
  let daemon: TestController | undefined;
  async function stopDaemon(): Promise<void> {
    await daemon?.stop();
    daemon = undefined;
  }

  const all = async <T extends KubeObject>(resource: Resource, namespace?: string) =>
    (await client.list<T>(resource, namespace === undefined ? {} : { namespace })).items;

  const createClass = (name: string, more: Partial<StorageClass> = {}) =>
    client.create<StorageClass>(STORAGE_CLASSES, dynamicClass(name, more));
  const createClaim = (
    name: string,
    more: {
      [K in keyof PersistentVolumeClaim['spec']]?: PersistentVolumeClaim['spec'][K] | undefined;
    } = {},
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
  const runningPod = async (not?: string) =>
    (await all<Pod>(PODS, OWN)).find(
      ({ status, metadata }) => status?.phase === 'Running' && metadata.uid !== not,
    );
  /**
   * Returns true if no object of the populator remains, and no claim has a finalizer of Stowage.
   */
  async function isCleanNow(): Promise<true | undefined> {
    const own = [...(await all(PODS, OWN)), ...(await all(PERSISTENT_VOLUME_CLAIMS, OWN))];
    const held = (await all(PERSISTENT_VOLUME_CLAIMS)).filter(({ metadata }) =>
      metadata.finalizers?.some((each) => each.startsWith('stowage')),
    );
    return own.length + held.length === 0 || undefined;
  }
  async function stowage(...argv: string[]): Promise<Outcome> {
    const { io, outcome } = fakeIo({});
    outcome.code = await run(argv, {
      ...{ ...io, clock: systemClock },
      // Stands for an environment setting: printed commands contain the flags of the command line.
      connect: (flags) => connect({ ...flags, kubeconfig: flags?.kubeconfig ?? kubeconfig }),
    });
    return outcome;
  }
  return {
    ...{ client, kubeconfig, stowage, createClass, createClaim, claimNow, eventsOf, all },
    ...containers,
    stopDaemon,
    /**
     * Starts the controllers, in place of running ones. Nodes are in memory unless `options` has an
     * executor.
     */
    async startDaemon(
      options: TestControllerOptions & { client?: KubeClient } = {},
    ): Promise<TestController> {
      await stopDaemon();
      daemon = await startController(options.client ?? client, {
        ...{ executor: workingNodes(), provisioning: { namespace: OWN, crossNamespace } },
        ...options,
      });
      return daemon;
    },
    /** Registers the populator of Hellos. */
    async register(): Promise<void> {
      await client.create(POPULATOR_DEFINITIONS, HELLO_DEFINITION);
      await client.create(VOLUME_POPULATORS, HELLO_POPULATOR);
    },
    createHello: (name = 'example', text?: string, namespace = NAMESPACE) =>
      client.create(HELLOS, hello(name, namespace, text), { namespace }),
    runningPod,
    /**
     * Waits until a populating pod runs whose UID differs from `not`.
     * @returns the pod
     */
    untilPodRuns: (not?: string) => until('a populating pod runs', () => runningPod(not)),
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
    isCleanNow,
    isClean: () => until('nothing of the machine is left', isCleanNow),
    persistentVolumes: () => all<PersistentVolume>(PERSISTENT_VOLUMES),
    isEmpty: () =>
      until('no volume is left', async () => {
        const left = [...(await all(PERSISTENT_VOLUMES)), ...(await all(VOLUMES))];
        return left.length === 0 || undefined;
      }),
    async stop(): Promise<void> {
      await stopDaemon();
      await containers.stop();
      await sandbox.stop();
      await folder.remove();
    },
  };
}
