import type { Explanation, Reason } from '../../api/reasons.ts';
import type { AttachmentState, AttachPolicy } from '../../api/volume.ts';
import type { NodeDeath, NodeSigns } from '../../model/node-death.ts';

/** A Volume as attachment sees it: where its device may be, and whether it is there to be attached at all. */
export interface Managed {
  uid: string;
  name: string;
  policy: AttachPolicy;
  /** Where it was made, or is to be; with `Always` the device is kept present there. */
  home: string;
  /** Where it may be attached: `home` alone, or those that share its directory. */
  nodes: readonly string[];
  /** It may be on several nodes at once, on each by a device that cannot be written to. */
  readOnly: boolean;
  /** The storage was made, and the Volume is not being deleted. */
  attachable: boolean;
  /** How long a detach waits for a node that is NotReady, in ms; Infinity: for ever. */
  maxWaitForUnmountMs: number;
}

/** A pod on a node, of which a volume is known to be needed there. */
export interface PodUse {
  /** The pod's UID: another pod of its name is another pod. */
  uid: string;
  /** `namespace/name` */
  pod: string;
  node: string;
}

/** Where a volume is needed, and by whom; a node without pods: by its policy alone. */
export interface DesiredAttachment {
  node: string;
  pods: readonly PodUse[];
}

/** What is known of a volume on one node. A volume has no entry for a node that is known not to have it. */
export interface NodeAttachment {
  node: string;
  state: AttachmentState;
  readOnly: boolean;
  /** When it is Attached without that, it is attached again: the link is missing. An attach that ends without it failed. */
  safeToMount: boolean;
  safeToDetach: boolean;
  /** Cached pods. */
  pods: readonly PodUse[];
  /** The kernel's name of it there, while it is known. */
  device: string | undefined;
  /** ms since the epoch */
  since: number;
  message: string | undefined;
  /** The reason of the message. */
  detail?: Reason | undefined;
}

/** What is known of a node. */
export interface NodeFacts extends NodeSigns {
  /** Which object says that nothing may be written: `Node n1`, `Volume v1`. */
  paused: string | undefined;
}

/** One operation on a volume's device. `verify` finds out what is so. */
export type AttachmentOperationKind = 'attach' | 'detach' | 'verify';

export interface AttachmentOperation {
  kind: AttachmentOperationKind;
  node: string;
  readOnly: boolean;
}

/** All that is decided from, of one volume. */
export interface ReconcileInput {
  /** undefined: the Volume is gone. */
  volume: Managed | undefined;
  /** Why nothing may be done on a node by what the Volume's object says, as the Volume controller refuses it, too. */
  problem: string | undefined;
  wanted: readonly DesiredAttachment[];
  /** The actual state of the world. */
  entries: readonly NodeAttachment[];
  /**
   * Nodes of the volume that were not looked at since this process began, or since they booted. Every operation begins
   * with a look: the node of one that ended with an answer is not among them any more.
   */
  unverifiedNodes: ReadonlySet<string>;
  /** The operation under way, if there is one. */
  running: AttachmentOperation | undefined;
  /** When an operation may be tried on a node again after it failed there, ms since the epoch. */
  notBefore(kind: AttachmentOperationKind, node: string): number;
  nodeFacts(node: string): NodeFacts;
  /** The pod of that UID is still on that node and not terminated, whatever became of its claim meanwhile. */
  isPodActive(pod: PodUse): boolean;
}

/** Why pods wait. One event for each volume and node. Without pods it is only said of what is paused. */
export interface Blocked extends Explanation {
  node: string;
  pods: readonly PodUse[];
  /** `multi-attach`: another node has it; `gone`: the Volume is, or the node is gone or off; `problem`: of the Volume's object. */
  reason: 'multi-attach' | 'node-not-allowed' | 'not-made' | 'paused' | 'gone' | 'problem';
  /** Why the node that has it does not let go, which the message ends with. */
  inner?: Explanation | undefined;
}

/** Why a node was let go of that nobody looked at; `ordered`: an operator took the attachment out of the status. */
export type ForcedReason = NodeDeath | 'ordered';

/** What follows. */
export interface ReconcileDecision {
  /** The entries after pods were dropped and added, and after what was let go of by force. */
  entries: readonly NodeAttachment[];
  /**
   * Entries that are let go of though nobody looked: the node is gone. Whoever carries this out gives up an operation that
   * is running there, and marks the node unverified, at the latest when it exists and is Ready again.
   */
  forced: readonly (Explanation & { node: string; reason: NodeDeath })[];
  /** To be begun now. */
  start: AttachmentOperation | undefined;
  blocked: readonly Blocked[];
  /** When to decide again if nothing changes before, ms since the epoch; undefined: not by itself. */
  again: number | undefined;
}
