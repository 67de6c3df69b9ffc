import type { Explanation, Reason } from '../../api/reasons.ts';
import type { AttachmentState, AttachPolicy } from '../../api/volume.ts';
import type { NodeDeath, NodeSigns } from '../../model/node-death.ts';
import type { PausedObject } from '../../model/pause.ts';

/** Attachment-related fields of a Volume. */
export interface Managed {
  uid: string;
  name: string;
  policy: AttachPolicy;
  /**
   * Node of the provisioned Volume, now or later; with `Always`, the device stays attached there.
   */
  home: string;
  /** Nodes that may attach the Volume: `home` alone, or those that share its directory. */
  nodes: readonly string[];
  /** The Volume may be on several nodes at once, on each as a read-only device. */
  readOnly: boolean;
  /** The storage is provisioned, and the Volume is not being deleted. */
  attachable: boolean;
  /** Time (ms) that a detach waits for a NotReady node; Infinity: forever. */
  maxWaitForUnmountMs: number;
}

/** A pod that needs a volume on its node. */
export interface PodUse {
  /** UID of the pod: another pod may have its name later. */
  uid: string;
  /** `namespace/name` */
  pod: string;
  node: string;
}

/**
 * A node on which a volume is needed, and the pods that need it. Without pods, only the policy
 * requires it.
 */
export interface DesiredAttachment {
  node: string;
  pods: readonly PodUse[];
}

/** Known state of a volume on one node. A node known not to have the volume has no entry. */
export interface NodeAttachment {
  node: string;
  state: AttachmentState;
  readOnly: boolean;
  /**
   * If false for an Attached device, the device is attached again: the link is missing. An attach
   * that ends so has failed.
   */
  safeToMount: boolean;
  safeToDetach: boolean;
  /** Pods that use the volume on this node, as of the last reconcile. */
  pods: readonly PodUse[];
  /** Kernel name of the device on the node, if known. */
  device: string | undefined;
  /** Start of the state, ms since the epoch. */
  since: number;
  message: string | undefined;
  detail?: Reason | undefined;
}

export interface NodeFacts extends NodeSigns {
  /** Volume or Node that pauses all writes. */
  paused: PausedObject | undefined;
}

/** Operation on a volume's device. `verify` observes the actual state. */
export type AttachmentOperationKind = 'attach' | 'detach' | 'verify';

export interface AttachmentOperation {
  kind: AttachmentOperationKind;
  node: string;
  readOnly: boolean;
}

/** Input of a decision about one volume. */
export interface ReconcileInput {
  /** undefined if the Volume is deleted. */
  volume: Managed | undefined;
  /**
   * Reason for which the Volume's object cannot be trusted; the Volume controller refuses it, too.
   */
  problem: string | undefined;
  wanted: readonly DesiredAttachment[];
  /** Actual state of the world. */
  entries: readonly NodeAttachment[];
  /**
   * Nodes of the volume not verified since this process started, or since they booted. Every
   * operation begins with an observation, and removes its node from this set once the node has
   * answered.
   */
  unverifiedNodes: ReadonlySet<string>;
  running: AttachmentOperation | undefined;
  /** Returns when an operation may be retried on a node after a failure, by the clock of `now`. */
  notBefore(kind: AttachmentOperationKind, node: string): number;
  nodeFacts(node: string): NodeFacts;
  /**
   * Reports whether the pod is still on its node and not terminated, even if its claim is deleted.
   */
  isPodActive(pod: PodUse): boolean;
}

/**
 * Reason for which pods wait, with one event for each volume and node. Without pods, only a pause
 * is reported.
 */
export interface Blocked extends Explanation {
  node: string;
  pods: readonly PodUse[];
  /**
   * `multi-attach`: another node has the volume; `gone`: the Volume is deleted, or the node is gone
   * or off; `problem`: the Volume's object cannot be trusted.
   */
  reason: 'multi-attach' | 'node-not-allowed' | 'not-made' | 'paused' | 'gone' | 'problem';
  /** Reason for which the holding node does not detach; the message ends with it. */
  inner?: Explanation | undefined;
}

/**
 * Reason of a force-detach without verification; `ordered`: an operator removed the attachment from
 * the status.
 */
export type ForcedReason = NodeDeath | 'ordered';

export interface ReconcileDecision {
  /** Entries after pods were removed and added, and after force-detaches. */
  entries: readonly NodeAttachment[];
  /**
   * Entries that are force-detached without verification, since their node is dead. The caller
   * cancels an operation running there and marks the node as unverified.
   */
  forced: readonly (Explanation & { node: string; reason: NodeDeath })[];
  start: AttachmentOperation | undefined;
  blocked: readonly Blocked[];
  /** Time of the next decision if nothing changes before, by the same clock; undefined: none. */
  again: number | undefined;
}
