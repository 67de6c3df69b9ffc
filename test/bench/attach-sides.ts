import type { KubeEvent, KubeNode, PersistentVolume, Pod } from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import {
  ATTACHED_NODES_ANNOTATION,
  EVENT,
  VOLUMES_ATTACHED_CONDITION,
} from '../../src/api/names.ts';
import { EVENTS, NODES, PERSISTENT_VOLUMES, PODS, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { connect } from '../../src/kube/connect.ts';
import { createInformer, type Informer } from '../../src/kube/informer.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { podOn, volumeNamed } from './attach-cluster.ts';
import { createSightings } from './sightings.ts';

/** Compared program, with its pods and the writes that show their attachments. */
export interface Side {
  name: 'kube-controller-manager' | 'stowage';
  /** Returns a pod of that name with the volume of that index. */
  pod(name: string, index: number): Pod;
  /** Waits for all writes after an attach. */
  attached(pods: readonly Chosen[]): Promise<void>;
  /** Waits for all writes after a detach. */
  detached(pods: readonly Chosen[]): Promise<void>;
  /** Times of the first and the last write about the attach, on the scale of performance.now(). */
  attachedAt(pod: Chosen): { first: number; last: number };
  detachedAt(pod: Chosen): number;
}

export interface Chosen {
  pod: Pod;
  index: number;
}

export interface Watched {
  sides: readonly [Side, Side];
  /** Resolves once each pod has its event about the attach, which is the last write. */
  told(pods: readonly Chosen[]): Promise<void>;
  stop(): Promise<void>;
}

const nameOf = ({ pod }: Chosen) => pod.metadata.name;

/** Observes the writes of both programs. */
export async function watchBoth(kubeconfig: string, nodes: number): Promise<Watched> {
  const { client } = await connect({ kubeconfig });
  const logger = { debug() {}, info() {}, warn: console.error, error: console.error };
  const common = { client, clock: systemClock, random: Math.random, logger };
  const informers: Informer<never>[] = [];
  const follow = <T extends KubeObject>(
    resource: Resource,
    onChange: (object: T, old: T | undefined) => void,
  ) => {
    const informer = createInformer<T>({ ...common, resource });
    informer.onChange(({ type, object, old }) => {
      if (type !== 'deleted') onChange(object, old);
    });
    informers.push(informer as unknown as Informer<never>);
  };

  // kube-controller-manager: by the volume's name on the node.
  const onNode = createSightings('volumes of iSCSI in the status of Nodes');
  follow<KubeNode>(NODES, (node, old) => {
    const now = new Set(attachedTo(node));
    for (const name of now) onNode.tell(name, true);
    for (const name of old === undefined ? [] : attachedTo(old))
      if (!now.has(name)) onNode.tell(name, false);
  });

  // Stowage: by the names of the Volume and the pod.
  const shown = createSightings('attachments in the status of Volumes');
  const recorded = createSightings('nodes on PersistentVolumes');
  const conditions = createSightings(`the condition ${VOLUMES_ATTACHED_CONDITION} of pods`);
  const events = createSightings(`the event ${EVENT.successfulAttachVolume} of pods`);
  follow<Volume>(VOLUMES, ({ metadata, status }) => {
    const there = status?.attachments ?? [];
    const isThere = there.some(({ state, safeToMount }) => state === 'Attached' && safeToMount);
    if (isThere || there.length === 0) shown.tell(metadata.name, isThere);
  });
  follow<PersistentVolume>(PERSISTENT_VOLUMES, ({ metadata: { name, annotations } }) => {
    recorded.tell(name, annotations?.[ATTACHED_NODES_ANNOTATION] !== '[]');
  });
  follow<Pod>(PODS, ({ metadata, status }) => {
    const condition = status?.conditions?.find(({ type }) => type === VOLUMES_ATTACHED_CONDITION);
    conditions.tell(metadata.name, condition?.status === 'True');
  });
  follow<KubeEvent>(EVENTS, ({ reason, involvedObject }) => {
    if (reason === EVENT.successfulAttachVolume) events.tell(involvedObject.name ?? '', true);
  });
  for (const informer of informers) informer.start();
  await Promise.all(informers.map((informer) => informer.synced));

  const volumeOf = ({ index }: Chosen) => volumeNamed(index);
  return {
    sides: [
      {
        name: 'kube-controller-manager',
        pod: (name, index) => podOn(name, index % nodes, { iscsi: iscsi(index) }),
        attached: (pods) => onNode.until(pods.map(uniqueName), true),
        detached: (pods) => onNode.until(pods.map(uniqueName), false),
        attachedAt: (pod) => ({
          first: onNode.at(uniqueName(pod)),
          last: onNode.at(uniqueName(pod)),
        }),
        detachedAt: (pod) => onNode.at(uniqueName(pod)),
      },
      {
        name: 'stowage',
        pod: (name, index) =>
          podOn(name, index % nodes, { persistentVolumeClaim: { claimName: volumeNamed(index) } }),
        attached: async (pods) => {
          await shown.until(pods.map(volumeOf), true);
          await recorded.until(pods.map(volumeOf), true);
          await conditions.until(pods.map(nameOf), true);
        },
        detached: async (pods) => {
          await shown.until(pods.map(volumeOf), false);
          await recorded.until(pods.map(volumeOf), false);
        },
        attachedAt: (pod) => ({
          first: shown.at(volumeOf(pod)),
          last: Math.max(
            shown.at(volumeOf(pod)),
            recorded.at(volumeOf(pod)),
            conditions.at(nameOf(pod)),
          ),
        }),
        detachedAt: (pod) => Math.max(shown.at(volumeOf(pod)), recorded.at(volumeOf(pod))),
      },
    ],
    told: (pods) => events.until(pods.map(nameOf), true),
    stop: async () => {
      await Promise.all(informers.map((informer) => informer.stop()));
    },
  };
}

const PORTAL = '127.0.0.1:3260';
const iqnOf = (index: number) => `iqn.2026-01.com.example:bench-${index}`;
const iscsi = (index: number) => ({
  targetPortal: PORTAL,
  iqn: iqnOf(index),
  lun: 0,
  fsType: 'ext4',
});
const uniqueName = ({ index }: Chosen) => `kubernetes.io/iscsi/${PORTAL}:${iqnOf(index)}:0`;

const attachedTo = ({ status }: KubeNode): string[] =>
  ((status as { volumesAttached?: { name: string }[] } | undefined)?.volumesAttached ?? []).map(
    ({ name }) => name,
  );
