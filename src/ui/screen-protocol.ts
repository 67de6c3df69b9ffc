/** Messages about claims, snapshots, nodes, grants and populators. Pure. */

import type { ConditionRow, Part, WhyDetail } from './protocol-parts.ts';

/** Claim that Stowage serves. */
export interface ClaimRow {
  /** `NAMESPACE/NAME`. */
  name: string;
  phase: string;
  storageClass: string;
  /** Size of its volume, else the requested one; '' if unknown. */
  size: string;
  /** Size in bytes for sorting; 0 if unknown. */
  bytes: number;
  /** Name of its Volume; '' if there is none yet. */
  volume: string;
  /** Kind of its data source; '' if it starts empty. */
  sourceKind: string;
  /** `NAMESPACE/NAME` of its data source. */
  sourceName: string;
  /** Why it is not ready, in one word; '' if it is, or if the claim does not tell. */
  reason: string;
  /** RFC 3339. */
  created: string;
  /** Changes with each change of the claim, also in fields that the row lacks. */
  version: string;
}

export interface SnapshotRow {
  /** `NAMESPACE/NAME`. */
  name: string;
  phase: string;
  size: string;
  bytes: number;
  snapshotClass: string;
  /** `NAMESPACE/NAME` of its claim; '' if it has none. */
  claim: string;
  /** Name of its VolumeSnapshotContent, if that is its source; else ''. */
  content: string;
  /** RFC 3339, or ''. */
  taken: string;
  created: string;
  /** Error of the last attempt; '' if there is none. */
  message: string;
  version: string;
}

/** Answer of `GET /api/claims/NAMESPACE/NAME` and of `GET /api/snapshots/NAMESPACE/NAME`. */
export interface ObjectDetail {
  why: Part<WhyDetail>;
  /** Lines of `stowage describe`. */
  description: Part<string>;
}

/** Answer of `GET /api/nodes/NAME`. */
export interface NodeDetail extends ObjectDetail {
  /** Conditions of the Node: Ready first, then problems, then the others. */
  conditions: Part<ConditionRow[]>;
  /** Value of the annotation that pauses it; '' if it is not paused. */
  paused: string;
}

/** Answer to a question about something that takes time, or that a node is asked. */
export interface Read {
  /** RFC 3339. */
  at: string;
  /** Remarks, such as kinds that may not be read; '' if there are none. */
  note: string;
}

export interface CheckRow {
  check: string;
  ok: boolean;
  message: string;
  hint: string;
  /** Command line to run after an inspection of its object; '' if there is none. */
  command: string;
}

/** Access to a node, as `stowage get nodes` prints it. */
export interface NodeAccess {
  transport: string;
  /** '' if it is the node's name. */
  address: string;
  reachable: boolean;
  /** '' if the free space is unknown. */
  directory: string;
  freeBytes: number;
  message: string;
}

/** Answer of `GET /api/nodes/NAME/check`, for which the node is contacted. */
export interface NodeCheck extends Read {
  access: Part<NodeAccess>;
  checks: Part<CheckRow[]>;
}

/** Disk or partition of a node, as the wizard of `stowage create volume` offers it. */
export interface DeviceRow {
  path: string;
  /** Persistent links to it, the best name first. */
  links: string[];
  model: string;
  bytes: number;
  /** Signature or partition table; '' if none was found. */
  carries: string;
  /** Use for which a new Volume is refused; '' if it may have one. */
  use: string;
}

/** Answer of `GET /api/nodes/NAME/devices`, for which the node is contacted. */
export interface NodeDevices extends Read {
  devices: DeviceRow[];
}

/** Answer of `GET /api/volumes/NAME/usage`, for which the node is contacted. */
export interface VolumeUsage extends Read {
  /** Figures with their labels; unknown ones are absent. */
  figures: [label: string, value: string][];
}

/** Object that uses a grant, or a claim that waits for a populator or was filled by one. */
export interface UseRow {
  kind: string;
  /** `NAMESPACE/NAME`. */
  name: string;
}

export interface GrantRow {
  /** `NAMESPACE/NAME`. */
  name: string;
  from: string[];
  to: string[];
  usedBy: UseRow[];
  created: string;
}

/** Answer of `GET /api/grants`. */
export interface Grants extends Read {
  grants: GrantRow[];
}

export interface PopulatorRow {
  name: string;
  /** `KIND.GROUP` of the sources. */
  source: string;
  /** Image, provisioner or built-in that populates. */
  by: string;
  registered: boolean;
  waiting: UseRow[];
  filled: UseRow[];
  created: string;
}

/** Answer of `GET /api/populators`. */
export interface Populators extends Read {
  populators: PopulatorRow[];
}

/** Answers of `GET` requests, by what is read. */
export interface Answers {
  claim: ObjectDetail;
  snapshot: ObjectDetail;
  node: NodeDetail;
  check: NodeCheck;
  devices: NodeDevices;
  usage: VolumeUsage;
  grants: Grants;
  populators: Populators;
}
