import type { KubeObject } from './meta.ts';

/** Fields of built-in kinds that Stowage reads or writes. */

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
}

export interface PersistentVolume extends KubeObject {
  spec: {
    capacity: { storage: string };
    accessModes: string[];
    persistentVolumeReclaimPolicy?: string;
    storageClassName?: string;
    volumeMode?: string;
    mountOptions?: string[];
    local?: { path: string; fsType?: string };
    nodeAffinity?: unknown;
    claimRef?: ObjectReference;
  };
  status?: { phase?: 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed'; message?: string };
}

export interface Secret extends KubeObject {
  /** Base64-encoded values. */
  data?: Record<string, string>;
}

/** `spec.dataSource` or `spec.dataSourceRef` of a claim; only the latter has a namespace. */
export interface DataSourceReference {
  /** Empty or absent for the core group. */
  apiGroup?: string | null;
  kind: string;
  name: string;
  namespace?: string;
}

export interface ClaimCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface PersistentVolumeClaim extends KubeObject {
  spec: {
    accessModes?: string[];
    volumeMode?: string;
    volumeName?: string;
    storageClassName?: string;
    /** Quantities. */
    resources?: { requests?: { storage?: string }; limits?: { storage?: string } };
    dataSource?: DataSourceReference;
    dataSourceRef?: DataSourceReference;
    selector?: object;
    volumeAttributesClassName?: string;
  };
  status?: {
    phase?: 'Pending' | 'Bound' | 'Lost';
    capacity?: { storage?: string };
    conditions?: ClaimCondition[];
  };
}

export interface PodCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface ContainerState {
  running?: object;
  waiting?: { reason?: string; message?: string };
  /** `message`: the container's termination message, or the end of its log. */
  terminated?: { exitCode?: number; reason?: string; message?: string };
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  /** Time in s after which a pod is evicted, for the effect NoExecute. */
  tolerationSeconds?: number;
}

export interface Pod extends KubeObject {
  spec: {
    nodeName?: string;
    tolerations?: Toleration[];
    volumes?: {
      name: string;
      persistentVolumeClaim?: { claimName: string };
      ephemeral?: object;
      hostPath?: { path: string; type?: string };
    }[];
  };
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    conditions?: PodCondition[];
    containerStatuses?: { name: string; state?: ContainerState }[];
    initContainerStatuses?: { name: string; state?: { running?: object } }[];
    ephemeralContainerStatuses?: { name: string; state?: { running?: object } }[];
  };
}

export interface StorageClass extends KubeObject {
  provisioner: string;
  parameters?: Record<string, string>;
  mountOptions?: string[];
  reclaimPolicy?: string;
  volumeBindingMode?: string;
  allowVolumeExpansion?: boolean;
  /** Terms are alternatives; all expressions of a term must hold. */
  allowedTopologies?: { matchLabelExpressions?: { key: string; values: string[] }[] }[];
}

export interface Deployment extends KubeObject {
  spec?: { replicas?: number };
  status?: { readyReplicas?: number };
}

export interface CsiDriver extends KubeObject {
  spec: { attachRequired?: boolean; podInfoOnMount?: boolean; storageCapacity?: boolean };
}

/** Room for a class on nodes with the labels, for the scheduler. Quantities. */
export interface CsiStorageCapacity extends KubeObject {
  storageClassName: string;
  nodeTopology?: { matchLabels?: Record<string, string> };
  capacity?: string;
  maximumVolumeSize?: string;
}

export interface KubeNode extends KubeObject {
  spec?: { taints?: { key: string; value?: string; effect: string }[] };
  status?: {
    /** `bootID` changes with each boot. */
    nodeInfo?: { bootID?: string };
    conditions?: {
      type: string;
      status: string;
      message?: string;
      lastTransitionTime?: string;
    }[];
  };
}

export interface KubeEvent extends KubeObject {
  involvedObject: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string };
  reportingComponent: string;
  reportingInstance: string;
}

/** Event of any reporter: newer reporters set other fields and leave the older ones null. */
export interface AnyEvent
  extends KubeObject,
    Partial<Pick<KubeEvent, 'type' | 'reason' | 'message' | 'source'>> {
  involvedObject: ObjectReference;
  count?: number | null;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  series?: { count?: number; lastObservedTime?: string } | null;
  reportingComponent?: string;
}

export interface Lease extends KubeObject {
  spec?: {
    /** Empty if the Lease is released. */
    holderIdentity?: string | null;
    leaseDurationSeconds?: number | null;
    /** RFC 3339 with microseconds, as metav1.MicroTime. */
    acquireTime?: string | null;
    renewTime?: string | null;
    leaseTransitions?: number | null;
  };
}
