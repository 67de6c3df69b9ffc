import type {
  KubeEvent,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from '../../src/api/core.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import {
  ATTACHED_NODES_ANNOTATION,
  OUT_OF_SERVICE_TAINT,
  VOLUMES_ATTACHED_CONDITION,
} from '../../src/api/names.ts';
import {
  EVENTS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Attachment, Volume, VolumeSpec } from '../../src/api/volume.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { sparseVolume, startCluster } from './cluster.ts';
import { startController, type TestController, type TestControllerOptions } from './controller.ts';
import { until } from './until.ts';
import { type WorkingNodes, workingNodes } from './working-nodes.ts';

/** Namespace of pods and claims. Claims have the names of their Volumes. */
const NAMESPACE = 'default';
export type AttachmentCluster = Awaited<ReturnType<typeof startAttachmentCluster>>;

/** Starts a sandbox with the Node n1 and nodes in memory. `start` runs the daemon's controllers. */
export async function startAttachmentCluster() {
  const cluster = await startCluster();
  const { client } = cluster;
  const nodes: WorkingNodes = workingNodes();
  /** Patches by the controllers: target (`persistentvolumes a`, `volumes/status a`) and body. */
  const writes: { what: string; body: string }[] = [];
  let controller: TestController | undefined;

  const noting = (real: KubeClient): KubeClient => ({
    ...real,
    patch(resource, name, patch, options) {
      const part = options?.subresource === undefined ? '' : `/${options.subresource}`;
      writes.push({ what: `${resource.plural}${part} ${name}`, body: JSON.stringify(patch) });
      return real.patch(resource, name, patch, options);
    },
  });

  async function start(
    options: TestControllerOptions & { client?: KubeClient } = {},
  ): Promise<void> {
    controller = await startController(noting(options.client ?? client), {
      executor: nodes,
      ...options,
    });
  }
  async function stop(): Promise<void> {
    await controller?.stop();
    controller = undefined;
  }

  async function setReady(
    name: string,
    status: 'True' | 'False',
    since = new Date(),
  ): Promise<void> {
    const lastTransitionTime = since.toISOString().replace(/\.\d+/, '');
    const conditions = [{ type: 'Ready', status, lastTransitionTime }];
    await client.patch(NODES, name, { status: { conditions } }, { subresource: 'status' });
  }
  async function createNode(name: string): Promise<void> {
    const labels = { 'kubernetes.io/hostname': name };
    await client.create<KubeNode>(NODES, {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } },
    });
    await setReady(name, 'True');
  }
  const taint = (name: string, on: boolean) =>
    client.patch(NODES, name, {
      spec: {
        taints: on
          ? [{ key: OUT_OF_SERVICE_TAINT, value: 'nodeshutdown', effect: 'NoExecute' }]
          : [],
      },
    });

  const volume = (name: string) => client.get<Volume>(VOLUMES, name);
  const attachments = async (name: string): Promise<Attachment[]> =>
    (await volume(name)).status?.attachments ?? [];
  const record = async (name: string): Promise<string | undefined> => {
    const { metadata } = await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
    return metadata.annotations?.[ATTACHED_NODES_ANNOTATION];
  };
  const createVolume = (name: string, more: Partial<VolumeSpec> = {}): Promise<Volume> => {
    const made = sparseVolume(name, 'n1', '32Mi');
    return client.create(VOLUMES, { ...made, spec: { ...made.spec, ...more } });
  };
  const isAvailable = (name: string) =>
    until(`${name} is Available`, async () =>
      (await volume(name)).status?.phase === 'Available' ? true : undefined,
    );

  /** Creates a claim and waits until it is bound to the Volume's PersistentVolume. */
  async function claim(name: string): Promise<void> {
    const made = await client.create<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: NAMESPACE },
      spec: {
        volumeName: name,
        storageClassName: 'local',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Mi' } },
      },
    } as PersistentVolumeClaim);
    await until(`the claim ${name} is bound`, async () => {
      const pv = await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
      return pv.spec.claimRef?.uid === made.metadata.uid ? true : undefined;
    });
  }
  /** Creates an OnDemand Volume with a bound claim. */
  async function createOnDemand(name: string, nodeName = 'n1'): Promise<void> {
    await createVolume(name, { attachPolicy: 'OnDemand', nodeName });
    await isAvailable(name);
    await claim(name);
  }
  /**
   * Creates a Volume whose file n1 and n2 share. Its status lists an attachment to n1 for those
   * pods.
   */
  async function createShared(
    name: string,
    pods: string[] = [],
  ): Promise<{ path: string; file: string }> {
    const { metadata } = await createVolume(name, {
      attachPolicy: 'OnDemand',
      attachableNodes: ['n1', 'n2'],
      sparseLoopDevice: { size: '32Mi', directory: '/srv/shared' },
    });
    const { uid = '' } = metadata;
    const [path, file] = [`/dev/disk/by-uuid/${uid}`, `/srv/shared/${uid}`];
    const since = new Date().toISOString();
    const status: Volume['status'] = {
      phase: 'Available',
      job: 'PrepareVolume/DONE',
      prepared: { node: 'n1', paths: [file], identity: `ext4 ${uid}` },
      devicePath: path,
      capacity: '32Mi',
      attachments: [
        { node: 'n1', state: 'Attached', safeToMount: true, safeToDetach: false, pods, since },
      ],
      conditions: [{ type: 'Ready', status: 'True', reason: 'Available', message: '' }],
    };
    await client.patch(VOLUMES, name, { status }, { subresource: 'status' });
    return { path, file };
  }

  const createPodWith = (
    name: string,
    nodeName: string,
    source: object,
    annotations = {},
  ): Promise<Pod> =>
    client.create<Pod>(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: NAMESPACE, annotations },
      spec: {
        nodeName,
        containers: [{ name: 'c', image: 'x' }],
        volumes: [{ name: 'data', ...source }],
      },
    } as Pod);
  const createPod = (name: string, claimName: string, nodeName = 'n1'): Promise<Pod> =>
    createPodWith(name, nodeName, { persistentVolumeClaim: { claimName } });
  const deletePod = (name: string) => client.delete(PODS, name, { namespace: NAMESPACE });
  const podCondition = async (name: string) =>
    (await client.get<Pod>(PODS, name, { namespace: NAMESPACE })).status?.conditions?.find(
      ({ type }) => type === VOLUMES_ATTACHED_CONDITION,
    );

  const isAttached = (name: string, node = 'n1') =>
    until(`${name} is attached to ${node}`, async () =>
      (await attachments(name)).find((each) => each.node === node && each.safeToMount),
    );
  /** Waits until neither status nor annotation lists an attachment. */
  const isDetached = (name: string) =>
    until(`${name} is detached`, async () =>
      (await attachments(name)).length === 0 && (await record(name)) === '[]' ? true : undefined,
    );
  const isGone = (name: string) =>
    until(`${name} is gone`, async () =>
      (await client.get(VOLUMES, name).catch(() => undefined)) === undefined ? true : undefined,
    );
  const hasLoops = (count: number, node = 'n1') =>
    until(
      `${node} has ${count} loop devices`,
      async () => nodes.loopsOn(node) === count || undefined,
    );
  const isTold = (pod: string) =>
    until(`${pod} is told that all is attached`, async () =>
      (await podCondition(pod))?.status === 'True' ? true : undefined,
    );

  /**
   * Creates an OnDemand Volume and the pod p1, and waits until the pod's condition shows the
   * attach.
   */
  async function createAttached(name: string): Promise<void> {
    await createOnDemand(name);
    await createPod('p1', name);
    await isAttached(name);
    await isTold('p1');
  }
  const hasMessage = (name: string, has: RegExp) =>
    until(`an attachment of ${name} has the message ${has}`, async () =>
      (await attachments(name)).find(({ message = '' }) => has.test(message)),
    );

  const events = async (name: string): Promise<KubeEvent[]> =>
    (await client.list<KubeEvent & KubeObject>(EVENTS, {})).items.filter(
      ({ involvedObject }) => involvedObject.name === name,
    );
  const event = (name: string, reason: string) =>
    until(`the event ${reason} of ${name}`, async () =>
      (await events(name)).find((each) => each.reason === reason),
    );

  await createNode('n1');
  return {
    ...{
      client,
      kubeconfig: cluster.kubeconfig,
      nodes,
      writes,
      start,
      stop,
      createNode,
      setReady,
      taint,
    },
    ...{
      volume,
      attachments,
      record,
      createVolume,
      createOnDemand,
      createShared,
      isAvailable,
      isGone,
    },
    ...{
      createPod,
      createPodWith,
      deletePod,
      podCondition,
      isAttached,
      isDetached,
      isTold,
      events,
      event,
    },
    ...{ hasLoops, createAttached, hasMessage },
    /** Returns the values of the attached-nodes annotation written to a PersistentVolume. */
    recordsWritten: (name: string): string[] =>
      writes
        .filter(
          ({ what, body }) =>
            what === `persistentvolumes ${name}` && body.includes(ATTACHED_NODES_ANNOTATION),
        )
        .map(({ body }) => JSON.parse(body).metadata.annotations[ATTACHED_NODES_ANNOTATION]),
    lines: () => controller?.lines ?? [],
    caughtUp: async () => controller?.caughtUp(),
    idle: async (soonMs?: number) => controller?.idle(soonMs),
    async restart(options: TestControllerOptions = {}): Promise<void> {
      await stop();
      await start(options);
    },
    async end(): Promise<void> {
      await stop();
      await cluster.stop();
    },
  };
}
