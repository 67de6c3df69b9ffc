import type { Explanation, Reason } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import type { NodeIncarnation } from '../../model/node-incarnation.ts';
import { type BackoffRange, backoffMs } from '../../workqueue/backoff.ts';
import { keyOf } from '../lib/event-key.ts';
import type { AttachmentOperationKind, NodeAttachment } from './types.ts';

/**
 * State of one Volume in this process. The API server stores the part that must outlive the
 * process.
 */
export interface VolumeState {
  uid: string;
  name: string;
  /**
   * Last trusted version of the Volume, or the first version if none was trusted. Detaches use it
   * after the object is gone.
   */
  volume: Volume;
  entries: readonly NodeAttachment[];
  /** Nodes of the volume not verified since this process started, or since they booted. */
  unverifiedNodes: Set<string>;
  failures: Map<string, Failure>;
  /**
   * Events emitted for each node and pod. Each is emitted again after `until`, in ms since the
   * epoch.
   */
  emittedEvents: Map<string, { gist: string; until: number }>;
  /** Incarnation of each node at the last reconcile. */
  incarnations: Map<string, NodeIncarnation>;
  /** Version of the last report that the device is missing. */
  lastDeviceMissingVersion: string | undefined;
  /** Nodes in the last written `status.attachments`. */
  written: ReadonlySet<string>;
  /** Reasons for which pods wait, by node. */
  blocked: ReadonlyMap<string, string>;
  /** The Volume was not provisioned yet at the last reconcile. */
  notProvisioned: boolean;
  /** Number of nodes that the volume is wanted on. */
  wanted: number;
}

/**
 * Failure of an operation: consecutive count, and when the next attempt may begin (ms since the
 * epoch).
 */
interface Failure extends Explanation {
  count: number;
  until: number;
  /** For a node that did not answer: when this message was first reported, by the same clock. */
  silenceReportedAt: number | undefined;
}

const failureKey = (kind: AttachmentOperationKind, node: string) => `${kind} ${node}`;

/**
 * Backoff of kube-controller-manager's failed attaches. A device in use is retried sooner, since
 * its pods may end at any time.
 */
const RETRY: Record<AttachmentOperationKind, BackoffRange> = {
  attach: { startMs: 500, maxMs: 122_000 },
  detach: { startMs: 500, maxMs: 10_000 },
  verify: { startMs: 500, maxMs: 60_000 },
};

/** Backoff for a node that lacks the mount of the directory and is not known to have the volume. */
export const UNFIT: BackoffRange = { startMs: 500, maxMs: 10 * 60_000 };

export function noteFailure(
  known: VolumeState,
  kind: AttachmentOperationKind,
  node: string,
  { message, detail }: Explanation,
  now: number,
  random: number,
  range = RETRY[kind],
  silenceReportedAt?: number,
): void {
  const key = failureKey(kind, node);
  const count = known.failures.get(key)?.count ?? 0;
  known.failures.set(key, {
    count: count + 1,
    until: now + backoffMs(count, random, range),
    message,
    detail,
    silenceReportedAt,
  });
}

export function forgetFailures(
  known: VolumeState,
  node: string,
  kinds: readonly AttachmentOperationKind[] = ['attach', 'detach', 'verify'],
): void {
  for (const kind of kinds) known.failures.delete(failureKey(kind, node));
}

/**
 * Returns a key that is equal for equal meanings: the reason, or the message if there is no reason.
 * Pure.
 */
export const gistOf = ({
  message,
  detail,
}: {
  message?: string | undefined;
  detail?: Reason | undefined;
}): string | undefined => (detail === undefined ? message : keyOf(detail));

export const failureOf = (known: VolumeState, kind: AttachmentOperationKind, node: string) =>
  known.failures.get(failureKey(kind, node));
