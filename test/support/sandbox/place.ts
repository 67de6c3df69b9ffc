import type { KubeNode, StorageClass } from '../../../src/api/core.ts';
import { NO_PROVISIONER } from '../../../src/api/names.ts';
import {
  fits,
  reaches,
  refersTo,
  SELECTED_NODE,
  type StoredClaim,
  smallestFirst,
  type Volume,
} from '../../../src/sandbox/controllers/fit.ts';
import type { StoredObject } from '../../../src/sandbox/kind.ts';
import { hasRoom, isAllowed, type RoomView } from './room.ts';

/** Scheduler's view of the rest of the cluster. */
export interface View extends RoomView {
  nodes: (KubeNode & { spec?: NodeSpec })[];
  volumes: Volume[];
  claim(name: string): StoredClaim | undefined;
  storageClass(name: string): Partial<StorageClass> | undefined;
  /** Nodes that the claim's provisioner rejected since the last change of the cluster. */
  givenBack(claim: StoredClaim): ReadonlySet<string>;
}

interface NodeSpec {
  unschedulable?: boolean;
  taints?: Taint[];
}
interface Taint {
  key: string;
  value?: string;
  effect: string;
}
interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

export interface UnscheduledPod extends StoredObject {
  spec: {
    nodeName?: string;
    nodeSelector?: Record<string, string>;
    affinity?: object;
    schedulingGates?: object[];
    tolerations?: Toleration[];
    volumes?: { persistentVolumeClaim?: { claimName: string }; ephemeral?: object }[];
  };
}

/** Preparation of a claim before its pod is bound to a node. */
export type Preparation =
  | { claim: StoredClaim; reserve: Volume }
  | { claim: StoredClaim; select: string }
  | { claim: StoredClaim; wait: true };

/** Node of a pod and its preparations, or the reason why no node is suitable. */
export type Placement = { node: string; before: Preparation[] } | { reason: string };

/**
 * Chooses the first ready node that all volumes of a pod reach, or on which they can be
 * provisioned.
 */
export function place(pod: UnscheduledPod, view: View): Placement {
  const { volumes = [], affinity } = pod.spec;
  if (affinity !== undefined || volumes.some(({ ephemeral }) => ephemeral !== undefined))
    return { reason: "the sandbox's scheduler knows neither affinity nor ephemeral volumes" };
  const claims: StoredClaim[] = [];
  for (const { persistentVolumeClaim } of volumes) {
    if (persistentVolumeClaim === undefined) continue;
    const claim = view.claim(persistentVolumeClaim.claimName);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined)
      return { reason: `persistentvolumeclaim "${persistentVolumeClaim.claimName}" not found` };
    if (!isBound(claim) && !waits(claim, view))
      return { reason: 'pod has unbound immediate PersistentVolumeClaims' };
    claims.push(claim);
  }
  const refusals: string[] = [];
  for (const node of view.nodes) {
    const found = nodeRefusal(pod, node) ?? preparations(claims, node, view);
    if (typeof found !== 'string') return { node: node.metadata.name, before: found };
    refusals.push(found);
  }
  return { reason: summary(refusals) };
}

/**
 * Summarizes refusals like the scheduler: `0/2 nodes are available: 2 node(s) were unschedulable.`
 */
function summary(refusals: string[]): string {
  if (refusals.length === 0) return 'no nodes available to schedule pods';
  const counted = [...new Set(refusals)].map(
    (why) => `${refusals.filter((one) => one === why).length} node(s) ${why}`,
  );
  return `0/${refusals.length} nodes are available: ${counted.sort().join(', ')}.`;
}

const NOT_READY: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

function nodeRefusal({ spec }: UnscheduledPod, node: View['nodes'][number]): string | undefined {
  const labels = node.metadata.labels ?? {};
  if (Object.entries(spec.nodeSelector ?? {}).some(([key, value]) => labels[key] !== value))
    return "didn't match Pod's node affinity/selector";
  if (node.spec?.unschedulable) return 'were unschedulable';
  const isReady = node.status?.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  const taints = [
    // Every new node has the not-ready taint, which the node lifecycle controller would update.
    ...(node.spec?.taints ?? []).filter(({ key }) => key !== NOT_READY.key),
    ...(isReady ? [] : [NOT_READY]),
  ];
  const taint = taints.find(
    (one) =>
      one.effect !== 'PreferNoSchedule' &&
      !spec.tolerations?.some((other) => tolerates(other, one)),
  );
  return taint && `had untolerated taint {${taint.key}: ${taint.value ?? ''}}`;
}

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  return (
    (effect === undefined || effect === taint.effect) &&
    (key === undefined ? operator === 'Exists' : key === taint.key) &&
    (operator === 'Exists' || (value ?? '') === (taint.value ?? ''))
  );
}

const isBound = ({ spec, status }: StoredClaim) =>
  spec.volumeName !== undefined && status?.phase === 'Bound';

const classOf = ({ spec }: StoredClaim, view: View) =>
  view.storageClass(spec.storageClassName ?? '');
const waits = (claim: StoredClaim, view: View) =>
  classOf(claim, view)?.volumeBindingMode === 'WaitForFirstConsumer';

/** Returns the preparations that bind claims on a node, or the reason why they cannot be bound. */
function preparations(claims: StoredClaim[], node: KubeNode, view: View): Preparation[] | string {
  const found: Preparation[] = [];
  const free = view.volumes
    .filter(
      ({ metadata, spec }) =>
        metadata.deletionTimestamp === undefined && spec.claimRef === undefined,
    )
    .sort(smallestFirst);
  for (const claim of claims) {
    const own = view.volumes.find((volume) =>
      isBound(claim) ? volume.metadata.name === claim.spec.volumeName : refersTo(volume, claim),
    );
    if (own !== undefined) {
      if (!reaches(own, node)) return 'had volume node affinity conflict';
      if (!isBound(claim)) found.push({ claim, wait: true });
      continue;
    }
    if (isBound(claim)) return "had a volume that isn't there";
    const selected = claim.metadata.annotations?.[SELECTED_NODE];
    const volume = free.find((one) => fits(one, claim) && reaches(one, node));
    if (volume !== undefined) {
      free.splice(free.indexOf(volume), 1);
      found.push({ claim, reserve: volume });
    } else if (selected === node.metadata.name) found.push({ claim, wait: true });
    else {
      const refusal = selected === undefined ? whyNotMade(claim, node, view) : NO_VOLUME;
      if (refusal !== undefined) return refusal;
      found.push({ claim, select: node.metadata.name });
    }
  }
  return found;
}

const NO_VOLUME = "didn't find available persistent volumes to bind";

/**
 * Returns why no volume can be provisioned for a claim on a node, or undefined. All reasons but the
 * last are the scheduler's.
 */
function whyNotMade(claim: StoredClaim, node: KubeNode, view: View): string | undefined {
  const storageClass = classOf(claim, view) ?? {};
  const { provisioner = NO_PROVISIONER } = storageClass;
  if (provisioner === NO_PROVISIONER || !isAllowed(storageClass, node)) return NO_VOLUME;
  if (!hasRoom(claim, provisioner, node, view)) return 'did not have enough free storage';
  return view.givenBack(claim).has(node.metadata.name)
    ? 'were given back by the provisioner'
    : undefined;
}
