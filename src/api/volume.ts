import type { KubeObject } from './meta.ts';
import type { Builtin } from './populator.ts';
import type { Reason } from './reasons.ts';

/** Volume resource: MetalK8s's schema, with additional optional fields of Stowage. */

export type VolumeMode = 'Filesystem' | 'Block';
export type Phase = 'Pending' | 'Available' | 'Failed' | 'Terminating';
export type OnDelete = 'Delete' | 'Retain' | 'Wipe';
export type AttachPolicy = 'Always' | 'OnDemand';

export interface VolumeSpec {
  nodeName: string;
  storageClassName: string;
  /** Default: Filesystem. */
  mode?: VolumeMode;
  /** Labels, annotations and additional spec fields of the PersistentVolume. */
  template?: {
    metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
    spec?: Record<string, unknown>;
  };
  /** `size` is a Kubernetes quantity in bytes. */
  sparseLoopDevice?: { size: string | number; directory?: string; requireMount?: boolean };
  rawBlockDevice?: { devicePath: string };
  lvmLogicalVolume?: { vgName: string; size: string | number; thinPool?: string };
  attachPolicy?: AttachPolicy;
  attachableNodes?: string[];
  overwrite?: string;
  onDelete?: OnDelete;
  /**
   * Existing storage to adopt with its data: that of the Volume with this UID, which
   * is gone or whose node is lost.
   */
  adopt?: { uid: string };
  source?: {
    snapshotContentName?: string;
    volumeName?: string;
    populator?: PopulatorSource;
    uid?: string;
  };
}

/**
 * Everything that a built-in needs to fill a volume: the object, its class and
 * its grant may be gone by then.
 */
export interface PopulatorSource {
  builtin: Builtin;
  namespace: string;
  name: string;
  /**
   * Fields of the object, in the form for the built-in. Secrets in the object's
   * namespace are named, never stored.
   */
  options: Record<string, string>;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface Condition {
  type: string;
  status: ConditionStatus;
  reason?: string;
  message?: string;
  /** Reason of the message, with its parameters (reasons.ts). */
  detail?: Reason;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
}

/**
 * Record of provisioned storage. Finalization and all later checks of the node use
 * this record instead of the spec.
 */
export interface Prepared {
  node: string;
  /** Absolute paths on the node, such as that of the backing file. */
  paths: string[];
  /**
   * Identity that distinguishes the storage from another one at its path; for a file,
   * `<filesystem device>:<inode>`.
   */
  identity: string;
}

/**
 * Attaching, Detaching: an operation on the node is in progress, or was when the node last
 * answered. Uncertain: the node must be verified; until then, it counts as attached.
 */
export type AttachmentState = 'Attaching' | 'Attached' | 'Detaching' | 'Uncertain';

/** Device on one node. An unlisted node does not have the device. */
export interface Attachment {
  node: string;
  state: AttachmentState;
  /** Attached by a read-only device. */
  readOnly?: boolean;
  /** The persistent path exists and leads to the device. */
  safeToMount: boolean;
  /** Nothing on the node uses the device, and no directory of the kubelet for it is left. */
  safeToDetach: boolean;
  /** Pods that need the device on the node, as `namespace/name`. */
  pods: string[];
  /** Kernel name of the device on the node, as under /dev, while known. */
  device?: string;
  /** Time at which the attachment entered its state. */
  since: string;
  /** Obstacle to the operation. */
  message?: string;
  detail?: Reason;
}

export interface VolumeStatus {
  phase?: Phase;
  conditions?: Condition[];
  /** `<Operation>/<id>`, or `<Operation>/DONE`. */
  job?: string;
  /** Node of that job, if not the node that the Volume is or will be provisioned on. */
  jobNode?: string;
  /** Kernel name of the device, as under /dev: `loop3`. */
  deviceName?: string;
  /** Persistent path, as in the PersistentVolume. */
  devicePath?: string;
  /** Measured capacity in bytes, as a quantity. */
  capacity?: string;
  prepared?: Prepared;
  /** Nodes that have the device. Only the attachment controller writes this field. */
  attachments?: Attachment[];
  /** Number of jobs; the last part of a job's key. Written before the job is submitted. */
  attempt?: number;
  observedGeneration?: number;
}

export interface Volume extends KubeObject {
  spec: VolumeSpec;
  status?: VolumeStatus;
}
