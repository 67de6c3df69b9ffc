import type { KubeObject } from './meta.ts';
import type { Builtin } from './populator.ts';
import type { Reason } from './reasons.ts';

/** The Volume resource: MetalK8s's schema, and Stowage's own optional fields beside it. */

export type VolumeMode = 'Filesystem' | 'Block';
export type Phase = 'Pending' | 'Available' | 'Failed' | 'Terminating';
export type OnDelete = 'Delete' | 'Retain' | 'Wipe';
export type AttachPolicy = 'Always' | 'OnDemand';

export interface VolumeSpec {
  nodeName: string;
  storageClassName: string;
  /** Filesystem when absent. */
  mode?: VolumeMode;
  /** Labels and annotations, and extras of the spec, for the PersistentVolume. */
  template?: {
    metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
    spec?: Record<string, unknown>;
  };
  /** `size` is a Kubernetes quantity, of bytes. */
  sparseLoopDevice?: { size: string | number; directory?: string; requireMount?: boolean };
  rawBlockDevice?: { devicePath: string };
  lvmLogicalVolume?: { vgName: string; size: string | number; thinPool?: string };
  attachPolicy?: AttachPolicy;
  attachableNodes?: string[];
  overwrite?: string;
  onDelete?: OnDelete;
  /** Storage that is there, with its data: that of the Volume with this UID, which is gone or whose node is. */
  adopt?: { uid: string };
  source?: {
    snapshotContentName?: string;
    volumeName?: string;
    populator?: PopulatorSource;
    uid?: string;
  };
}

/** All that a built-in needs to fill a volume: the object that it is from, its class and its grant may be gone by then. */
export interface PopulatorSource {
  builtin: Builtin;
  namespace: string;
  name: string;
  /** Fields of the object, as the built-in has them. Secrets are named in it, in the object's namespace, and never held. */
  options: Record<string, string>;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface Condition {
  type: string;
  status: ConditionStatus;
  reason?: string;
  message?: string;
  /** The finer reason, with its parameters (reasons.ts). */
  detail?: Reason;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
}

/** What was made, where: what finalize and every later look at the node go by, whatever the spec says by then. */
export interface Prepared {
  node: string;
  /** Absolute paths on the node: the backing file. */
  paths: string[];
  /** What tells that file from another of its name: `<filesystem device>:<inode>`. */
  identity: string;
}

/**
 * Attaching, Detaching: work on the node is under way, or was when it was last heard of. Uncertain: the node is to be looked
 * at; until then it counts as attached.
 */
export type AttachmentState = 'Attaching' | 'Attached' | 'Detaching' | 'Uncertain';

/** The device on one node. A node that is not listed does not have it. */
export interface Attachment {
  node: string;
  state: AttachmentState;
  /** By a device that cannot be written to. */
  readOnly?: boolean;
  /** The persistent path is there and leads to the device. */
  safeToMount: boolean;
  /** Nothing on the node uses it, and no folder of the kubelet's is left. */
  safeToDetach: boolean;
  /** Those that need it there, as `namespace/name`. */
  pods: string[];
  /** The kernel's name of it there, as under /dev; while it is known. */
  device?: string;
  /** When it came into this state. */
  since: string;
  /** What holds it up. */
  message?: string;
  detail?: Reason;
}

export interface VolumeStatus {
  phase?: Phase;
  conditions?: Condition[];
  /** `<Operation>/<id>`, or `<Operation>/DONE`. */
  job?: string;
  /** The node of that job, where it is not the one that the Volume was made on or is to be. */
  jobNode?: string;
  /** The kernel's name, as under /dev: `loop3`. */
  deviceName?: string;
  /** The persistent path, as in the PersistentVolume. */
  devicePath?: string;
  /** Measured, in bytes, as a quantity. */
  capacity?: string;
  prepared?: Prepared;
  /** Where the device is. Written by attachment alone. */
  attachments?: Attachment[];
  /** Counts jobs; the key of a job ends in it, and it is written before the job is submitted. */
  attempt?: number;
  observedGeneration?: number;
}

export interface Volume extends KubeObject {
  spec: VolumeSpec;
  status?: VolumeStatus;
}
