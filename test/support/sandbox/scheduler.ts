import type { CsiDriver, CsiStorageCapacity } from '../../../src/api/core.ts';
import {
  SELECTED_NODE,
  type StoredClaim,
  type Volume,
} from '../../../src/sandbox/controllers/fit.ts';
import type { StoredObject } from '../../../src/sandbox/kind.ts';
import { type Cluster, settle, timestamp } from '../../../src/sandbox/objects/cluster.ts';
import { type Change, keyOf } from '../../../src/sandbox/store.ts';
import {
  type Placement,
  type Preparation,
  place,
  type UnscheduledPod,
  type View,
} from './place.ts';

const PODS = 'pods';
const CLAIMS = 'persistentvolumeclaims';
const PVS = 'persistentvolumes';
const NODES = 'nodes';
const CLASSES = 'storageclasses.storage.k8s.io';
const DRIVERS = 'csidrivers.storage.k8s.io';
const CAPACITIES = 'csistoragecapacities.storage.k8s.io';
/** Tables whose changes can make a node suitable for a claim. */
const SURROUNDINGS = new Set([PVS, NODES, CLASSES, DRIVERS, CAPACITIES]);
const WATCHED = new Set([PODS, CLAIMS, ...SURROUNDINGS]);

/** Nodes that provisioners rejected, by the UIDs of claims. */
type GivenBack = Map<string, Set<string>>;

/**
 * Simulates the scheduler: binds pods to nodes one after another, after the nodes of their unbound
 * claims are selected.
 */
export function schedulePods(cluster: Cluster): void {
  let isDue = false;
  const givenBack: GivenBack = new Map();
  const round = () => {
    isDue = false;
    const pods = cluster.store.list(PODS) as UnscheduledPod[];
    for (const pod of pods.filter(isWaiting)) schedule(cluster, pod, givenBack);
  };
  cluster.store.subscribe((change) => {
    const { table } = change;
    if (SURROUNDINGS.has(table)) givenBack.clear();
    if (table === CLAIMS) note(change, givenBack);
    if (isDue || !WATCHED.has(table)) return;
    isDue = true;
    setImmediate(round);
  });
}

/**
 * Records rejected nodes. A real scheduler retries after a while; this one after a change, and
 * other nodes first.
 */
function note({ type, object, previous }: Change, givenBack: GivenBack): void {
  const { uid = '' } = object.metadata;
  const before = previous?.metadata.annotations?.[SELECTED_NODE];
  if (type === 'DELETED') givenBack.delete(uid);
  else if (before !== undefined && object.metadata.annotations?.[SELECTED_NODE] === undefined)
    givenBack.set(uid, (givenBack.get(uid) ?? new Set()).add(before));
}

const isWaiting = ({ metadata, spec }: UnscheduledPod) =>
  spec.nodeName === undefined &&
  metadata.deletionTimestamp === undefined &&
  !spec.schedulingGates?.length;

function schedule(cluster: Cluster, pod: UnscheduledPod, givenBack: GivenBack): void {
  const placement = place(pod, viewOf(cluster, pod, givenBack));
  if ('reason' in placement) tell(cluster, pod, placement);
  else if (placement.before.length > 0)
    for (const preparation of placement.before) prepare(cluster, preparation);
  else {
    const next = { ...pod, spec: { ...pod.spec, nodeName: placement.node } };
    settle(cluster, PODS, withCondition(cluster, next, { status: 'True' }));
  }
}

const NONE: ReadonlySet<string> = new Set();

function viewOf(
  { store }: Cluster,
  { metadata: { namespace } }: UnscheduledPod,
  givenBack: GivenBack,
): View {
  return {
    nodes: store.list(NODES),
    volumes: store.list(PVS) as Volume[],
    claim: (name) => store.get(CLAIMS, keyOf(namespace, name)) as StoredClaim | undefined,
    storageClass: (name) =>
      store.get(CLASSES, keyOf(undefined, name)) as ReturnType<View['storageClass']>,
    driver: (name) => store.get(DRIVERS, keyOf(undefined, name)) as CsiDriver | undefined,
    capacities: store.list(CAPACITIES) as unknown as CsiStorageCapacity[],
    givenBack: ({ metadata: { uid = '' } }) => givenBack.get(uid) ?? NONE,
  };
}

function prepare(cluster: Cluster, preparation: Preparation): void {
  const { claim } = preparation;
  if ('select' in preparation) {
    const annotations = { ...claim.metadata.annotations, [SELECTED_NODE]: preparation.select };
    settle(cluster, CLAIMS, { ...claim, metadata: { ...claim.metadata, annotations } });
  } else if ('reserve' in preparation) {
    const { namespace, name, uid } = claim.metadata;
    const { reserve } = preparation;
    const annotations = {
      ...reserve.metadata.annotations,
      'pv.kubernetes.io/bound-by-controller': 'yes',
    };
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
    settle(cluster, PVS, {
      ...reserve,
      metadata: { ...reserve.metadata, annotations },
      spec: { ...reserve.spec, claimRef },
    } as Volume);
  }
}

function tell(
  cluster: Cluster,
  pod: UnscheduledPod,
  { reason }: Extract<Placement, { reason: string }>,
): void {
  const told = conditionsOf(pod).find(({ type }) => type === 'PodScheduled');
  if (told?.message === reason) return;
  const condition = { status: 'False', reason: 'Unschedulable', message: reason };
  settle(cluster, PODS, withCondition(cluster, pod, condition));
}

interface Condition {
  type: string;
  status: string;
  message?: string;
}

const conditionsOf = ({ status }: StoredObject) =>
  (status as { conditions?: Condition[] } | undefined)?.conditions ?? [];

function withCondition(cluster: Cluster, pod: StoredObject, condition: object): StoredObject {
  const others = conditionsOf(pod).filter(({ type }) => type !== 'PodScheduled');
  const lastTransitionTime = timestamp(cluster.now());
  const conditions = [...others, { type: 'PodScheduled', lastTransitionTime, ...condition }];
  return { ...pod, status: { ...(pod.status as object | undefined), conditions } };
}
