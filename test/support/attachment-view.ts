import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../src/api/core.ts';
import type { Volume } from '../../src/api/volume.ts';
import { nextOperation } from '../../src/controllers/attachdetach/next-operation.ts';
import type { Lookups } from '../../src/controllers/attachdetach/pod-volumes.ts';
import type {
  DesiredAttachment,
  Managed,
  NodeAttachment,
  NodeFacts,
  PodUse,
  ReconcileInput,
} from '../../src/controllers/attachdetach/types.ts';
import type { VolumeState } from '../../src/controllers/attachdetach/volume-state.ts';

/** Inputs for the pure functions of the attach/detach controller. The defaults are healthy. */

/** Change of an object; undefined removes a field. */
type Change<T> = { [K in keyof T]?: T[K] | undefined };

/** Milliseconds since the epoch. */
export const NOW = Date.parse('2026-03-01T12:00:00Z');
export const MINUTE = 60_000;

/** Returns an OnDemand volume of three nodes that share its directory. */
export const shared = (change: Partial<Managed> = {}): Managed => ({
  uid: 'u1',
  name: 'v1',
  policy: 'OnDemand',
  home: 'n1',
  nodes: ['n1', 'n2', 'n3'],
  readOnly: false,
  attachable: true,
  maxWaitForUnmountMs: 6 * MINUTE,
  ...change,
});

export const onDemand = (change: Partial<Managed> = {}): Managed =>
  shared({ nodes: ['n1'], ...change });

export const always = (change: Partial<Managed> = {}): Managed =>
  onDemand({ policy: 'Always', ...change });

/** Returns a use by pod `app/<name>`. */
export const use = (name: string, node: string): PodUse => ({
  uid: `uid-${name}`,
  pod: `app/${name}`,
  node,
});

export const wanted = (node: string, ...names: string[]): DesiredAttachment => ({
  node,
  pods: names.map((name) => use(name, node)),
});

/** Returns an attachment for these pods, by default Attached. */
export const entry = (
  node: string,
  change: Partial<Omit<NodeAttachment, 'pods'>> = {},
  ...names: string[]
): NodeAttachment => ({
  node,
  state: 'Attached',
  readOnly: false,
  safeToMount: (change.state ?? 'Attached') === 'Attached',
  safeToDetach: false,
  pods: names.map((name) => use(name, node)),
  device: undefined,
  since: NOW - 10 * MINUTE,
  message: undefined,
  ...change,
});

export const UP: NodeFacts = {
  exists: true,
  ready: true,
  notReadySince: undefined,
  off: false,
  paused: undefined,
};
export const notReady = (since: number): NodeFacts => ({
  ...UP,
  ready: false,
  notReadySince: since,
});
export const OFF: NodeFacts = { ...notReady(NOW - 1000), off: true };
export const DELETED: NodeFacts = { ...UP, exists: false, ready: false };
export const paused = (by = { kind: 'Volume', name: 'v1' }): NodeFacts => ({ ...UP, paused: by });

export interface ViewChange
  extends Partial<
    Pick<ReconcileInput, 'volume' | 'problem' | 'wanted' | 'entries' | 'running' | 'isPodActive'>
  > {
  unverified?: string[];
  nodes?: Record<string, NodeFacts>;
  /** Times by operation and node, such as `attach n1`. */
  notBefore?: Record<string, number>;
}

/** Parts of a view: a pod needs the volume on n1, on n2, or one pod on each; n1 has it attached. */
export const onN1 = { wanted: [wanted('n1', 'a')] };
export const onN2 = { wanted: [wanted('n2', 'a')] };
export const onBoth = { wanted: [wanted('n1', 'a'), wanted('n2', 'b')] };
export const held = { entries: [entry('n1')] };
export const readers = shared({ readOnly: true });
export const uncertain = { state: 'Uncertain' } as const;
export const read = { readOnly: true };
/** Reports each pod as active. */
export const alive = () => true;

/** Returns the input for a shared volume, neither needed nor attached. */
export const view = ({
  unverified = [],
  nodes = {},
  notBefore = {},
  ...change
}: ViewChange = {}): ReconcileInput => ({
  volume: shared(),
  problem: undefined,
  wanted: [],
  entries: [],
  running: undefined,
  isPodActive: () => false,
  unverifiedNodes: new Set(unverified),
  notBefore: (kind, node) => notBefore[`${kind} ${node}`] ?? 0,
  nodeFacts: (node) => nodes[node] ?? UP,
  ...change,
});

/** Returns the operation that a view starts, such as `attach n1 ro`. */
export function startOf(change: ViewChange): string | undefined {
  const { start } = nextOperation(view(change), NOW);
  return start === undefined
    ? undefined
    : `${start.kind} ${start.node}${start.readOnly ? ' ro' : ''}`;
}

/** Returns the state of volume v1, attached nowhere. */
export const knownOf = (change: Partial<VolumeState> = {}): VolumeState => ({
  uid: 'u1',
  name: 'v1',
  volume: volumeObject(),
  entries: [],
  unverifiedNodes: new Set(),
  failures: new Map(),
  emittedEvents: new Map(),
  incarnations: new Map(),
  lastDeviceMissingVersion: undefined,
  written: new Set(),
  blocked: new Map(),
  notProvisioned: false,
  wanted: 0,
  ...change,
});

export const DEVICE_PATH = '/dev/disk/by-uuid/u1';

export const volumeObject = (
  spec: Change<Volume['spec']> = {},
  status: Change<NonNullable<Volume['status']>> = {},
  metadata: Change<Volume['metadata']> = {},
): Volume =>
  ({
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    metadata: { name: 'v1', uid: 'u1', ...metadata },
    spec: { nodeName: 'n1', storageClassName: 'sc', sparseLoopDevice: { size: '1Gi' }, ...spec },
    status: {
      devicePath: DEVICE_PATH,
      prepared: { node: 'n1', paths: ['/srv/u1'], identity: '1:2' },
      ...status,
    },
  }) as Volume;

/** Returns the PersistentVolume of Volume v1, bound to the claim app/c1. */
export const pvObject = (
  spec: Change<PersistentVolume['spec']> = {},
  metadata: Change<PersistentVolume['metadata']> = {},
): PersistentVolume =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'v1',
      uid: 'pv-uid',
      ownerReferences: [
        {
          apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
          kind: 'Volume',
          name: 'v1',
          uid: 'u1',
        },
      ],
      ...metadata,
    },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: 'app', name: 'c1', uid: 'claim-uid' },
      local: { path: DEVICE_PATH },
      ...spec,
    },
  }) as PersistentVolume;

export const claimObject = (
  name = 'c1',
  metadata: Partial<PersistentVolumeClaim['metadata']> = {},
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'app', uid: 'claim-uid', ...metadata },
  spec: { volumeName: 'v1' },
});

/** Returns a Pending pod on n1 with the claim c1. */
export const podObject = (
  spec: Change<Pod['spec']> = {},
  status: Change<NonNullable<Pod['status']>> = {},
  metadata: Change<Pod['metadata']> = {},
): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p1', namespace: 'app', uid: 'uid-p1', ...metadata },
    spec: {
      nodeName: 'n1',
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'c1' } }],
      ...spec,
    },
    status: { phase: 'Pending', ...status },
  }) as Pod;

export function lookups(
  objects: { claims?: PersistentVolumeClaim[]; pvs?: PersistentVolume[]; volumes?: Volume[] } = {},
): Lookups {
  const { claims = [claimObject()], pvs = [pvObject()], volumes = [volumeObject()] } = objects;
  return {
    claim: (namespace, name) =>
      claims.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    persistentVolume: (name) => pvs.find(({ metadata }) => metadata.name === name),
    volumesAt: (path) => volumes.filter(({ status }) => status?.devicePath === path),
  };
}
