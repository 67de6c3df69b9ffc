/** Messages between the page of `stowage ui` and its server. Both import this file. Pure. */

import type { ConditionRow, Part, WhyDetail } from './protocol-parts.ts';
import type { ClaimRow, SnapshotRow } from './screen-protocol.ts';

export type * from './actions/protocol.ts';
export type * from './protocol-parts.ts';
export type * from './screen-protocol.ts';

/** Request header with the session key. A custom header never leaves the page's own origin. */
export const KEY_HEADER = 'x-stowage-key';

/** Name of the token in the fragment of a URL. */
export const TOKEN_PARAMETER = 'token';

/** Kinds whose objects are rows of the page. */
export type RowKind = 'volumes' | 'nodes' | 'claims' | 'snapshots';

/** Kinds that the server lists and watches. Kinds without rows complete the rows of others. */
export type SourceKind = RowKind | 'persistentvolumes' | 'csistoragecapacities' | 'storageclasses';

/**
 * State of a kind. `listed`: all rows are there. `refused`: the user may not list or watch it.
 * `failed`: the last request failed, and is repeated.
 */
export interface SourceState {
  state: 'loading' | 'listed' | 'refused' | 'failed';
  /** Reason for `refused` and `failed`. */
  message?: string;
  hint?: string;
}

/** Connection of the server to the API server. */
export interface ConnectionState {
  connected: boolean;
  /** Time (RFC 3339) since which it is so. */
  since: string;
  /** Error of the first request without an answer. */
  error?: string;
}

export interface VolumeRow {
  name: string;
  node: string;
  type: string;
  /** Requested or measured size for people; '' if unknown. */
  size: string;
  /** Size in bytes for sorting; 0 if unknown. */
  bytes: number;
  phase: string;
  /** Status of the condition Ready; '' if there is none. */
  ready: string;
  /** Reason of the condition Ready; '' if there is none. */
  reason: string;
  /** `NAMESPACE/NAME`; '' if there is none or it is unknown. */
  claim: string;
  /** RFC 3339. */
  created: string;
  paused: boolean;
  deleting: boolean;
  attachments: AttachmentRow[];
  /** Changes with each change of the Volume, also in fields that the row lacks. */
  version: string;
}

/** Room for new volumes of a class on a node, as Stowage publishes it for the scheduler. */
export interface ClassRoom {
  storageClass: string;
  bytes: number;
}

export interface NodeRow {
  name: string;
  /** Status of the condition Ready; '' if the kubelet has not reported. */
  ready: string;
  paused: boolean;
  room: ClassRoom[];
}

export interface Rows {
  volumes: VolumeRow;
  nodes: NodeRow;
  claims: ClaimRow;
  snapshots: SnapshotRow;
}

/** Lines of `GET /api/feed`. A feed begins with `start`, after which the page knows nothing. */
export type FeedMessage =
  | { type: 'start'; server: string; version: string }
  | ({ type: 'connection' } & ConnectionState)
  | ({ type: 'source'; kind: SourceKind } & SourceState)
  | { type: 'rows'; kind: 'volumes'; rows: VolumeRow[] }
  | { type: 'rows'; kind: 'nodes'; rows: NodeRow[] }
  | { type: 'rows'; kind: 'claims'; rows: ClaimRow[] }
  | { type: 'rows'; kind: 'snapshots'; rows: SnapshotRow[] }
  | { type: 'gone'; kind: RowKind; names: string[] };

export type Field = readonly [label: string, value: string];

export interface EventRow {
  type: string;
  reason: string;
  message: string;
  /** RFC 3339, or ''. */
  last: string;
  /** RFC 3339, or ''. */
  first: string;
  count: number;
  from: string;
}

export interface AttachmentRow {
  node: string;
  state: string;
  device: string;
  readOnly: boolean;
  safeToMount: boolean;
  safeToDetach: boolean;
  pods: string[];
  since: string;
  message: string;
}

export interface JobRow {
  /** `OPERATION/ID`, or `OPERATION/DONE`. */
  name: string;
  /** Number of jobs so far. */
  attempt: number;
  /** Time (RFC 3339) of its last report, or ''. */
  reported: string;
}

export interface ClaimDetail {
  /** `NAMESPACE/NAME`. */
  name: string;
  phase: string;
  pods: Part<string[]>;
}

/** Answer of `GET /api/volumes/NAME`. */
export interface VolumeDetail {
  row: VolumeRow;
  fields: Field[];
  conditions: ConditionRow[];
  /** Last job on the node; missing if there was none. */
  job?: JobRow;
  claim: Part<ClaimDetail>;
  events: Part<EventRow[]>;
  why: Part<WhyDetail>;
  /** Command line that creates the same Volume. */
  command: Part<string>;
  yaml: Part<string>;
}

/** Objects with the same cause, as `stowage why --all` groups them. */
export interface BlockedGroup extends WhyDetail {
  root: string;
  /** Names with their kinds; the first ones only. */
  objects: { kind: string; name: string }[];
  total: number;
}

/** Answer of `GET /api/blocked`. */
export interface BlockedObjects {
  groups: BlockedGroup[];
  /** RFC 3339. */
  at: string;
  /** Remarks, such as kinds that may not be read; '' if there are none. */
  note: string;
}

/** Answer of `POST /api/session`. */
export interface SessionAnswer {
  key: string;
}

/** Answer of `POST /api/token`. */
export interface TokenAnswer {
  url: string;
  /** Seconds for which the URL is valid. */
  seconds: number;
}

/** Codes of errors. */
export type UiErrorCode =
  | 'wrong-host'
  | 'wrong-origin'
  | 'cross-site'
  | 'not-found'
  | 'wrong-method'
  | 'no-key'
  | 'no-token'
  | 'wrong-content'
  | 'too-large'
  | 'too-many'
  | 'wrong-field'
  | 'no-plan'
  | 'not-confirmed'
  | 'refused'
  | 'failed';

/** Body of every error. */
export interface UiError {
  error: string;
  code: UiErrorCode;
  /** Field of an action that is wrong, for `wrong-field`. */
  field?: string;
}
