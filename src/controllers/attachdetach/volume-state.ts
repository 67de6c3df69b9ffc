import type { Explanation, Reason } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import type { NodeIncarnation } from '../../model/node-incarnation.ts';
import { type BackoffRange, backoffMs } from '../../workqueue/backoff.ts';
import { keyOf } from '../lib/event-key.ts';
import type { AttachmentOperationKind, NodeAttachment } from './types.ts';

/** What this process knows of one Volume. The API server has what of it must outlive the process. */
export interface VolumeState {
  uid: string;
  name: string;
  /** As it was seen last with a record to be trusted, if ever: what is attached is let go of by it even when the object is gone. */
  volume: Volume;
  entries: readonly NodeAttachment[];
  /** Nodes of the volume that were not looked at since this process began, or since they booted. */
  unverifiedNodes: Set<string>;
  failures: Map<string, Failure>;
  /** Events emitted for each node and pod. Each is emitted again after `until`, in ms since the epoch. */
  emittedEvents: Map<string, { gist: string; until: number }>;
  /** The incarnation of each node when it was last looked at. */
  incarnations: Map<string, NodeIncarnation>;
  /** What of the Volume was gone by last that says its device is missing. */
  lastDeviceMissingVersion: string | undefined;
  /** The nodes in `status.attachments` as it was written last. */
  written: ReadonlySet<string>;
  /** Why pods wait, by node. */
  blocked: ReadonlyMap<string, string>;
  /** It was not made yet when it was last decided about. */
  notProvisioned: boolean;
  /** On how many nodes it is wanted. */
  wanted: number;
}

/** Where an operation failed: how often in a row, and when the next may begin (ms since the epoch). */
interface Failure extends Explanation {
  count: number;
  until: number;
  /** Of a look at a node that did not answer: when these words of that were told first, ms since the epoch. */
  silenceToldAt: number | undefined;
}

const failureKey = (kind: AttachmentOperationKind, node: string) => `${kind} ${node}`;

/** As kube-controller-manager's between failed attaches; what is in use is looked at sooner, for its pods may go at any time. */
const RETRY: Record<AttachmentOperationKind, BackoffRange> = {
  attach: { startMs: 500, maxMs: 122_000 },
  detach: { startMs: 500, maxMs: 10_000 },
  verify: { startMs: 500, maxMs: 60_000 },
};

/** Of a node that lacks what it is to have, its mount of the directory, and is not known to have the volume. */
export const UNFIT: BackoffRange = { startMs: 500, maxMs: 10 * 60_000 };

export function noteFailure(
  known: VolumeState,
  kind: AttachmentOperationKind,
  node: string,
  { message, detail }: Explanation,
  now: number,
  random: number,
  range = RETRY[kind],
  silenceToldAt?: number,
): void {
  const key = failureKey(kind, node);
  const count = known.failures.get(key)?.count ?? 0;
  known.failures.set(key, {
    count: count + 1,
    until: now + backoffMs(count, random, range),
    message,
    detail,
    silenceToldAt,
  });
}

export function forgetFailures(
  known: VolumeState,
  node: string,
  kinds: readonly AttachmentOperationKind[] = ['attach', 'detach', 'verify'],
): void {
  for (const kind of kinds) known.failures.delete(failureKey(kind, node));
}

/** The same text for all that says the same: reasons are compared, and messages where there is none. Pure. */
export const gistOf = ({
  message,
  detail,
}: {
  message?: string | undefined;
  detail?: Reason | undefined;
}): string | undefined => (detail === undefined ? message : keyOf(detail));

export const failureOf = (known: VolumeState, kind: AttachmentOperationKind, node: string) =>
  known.failures.get(failureKey(kind, node));
