import { SNAPSHOT_EVENT } from '../../api/names.ts';
import { type Explanation, reason as reasonOf } from '../../api/reasons.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import { isRecent, RETRY } from '../../model/retry.ts';
import { keyOf } from '../lib/event-key.ts';
import { detailOf, setProblem } from './status.ts';
import type { ContentAction, Decision } from './types.ts';

export const idle: Decision<ContentAction> = {};

/** Reports an obstacle once. A change of the obstacle triggers the next reconcile. */
export function waitFor(
  content: VolumeSnapshotContent,
  now: number,
  reason: string,
  why: Explanation,
): Decision<ContentAction> {
  const action = setProblem(content, now, reason, why);
  return action === undefined ? idle : { action };
}

/**
 * Reports that a node's state is unknown, and retries with backoff. The node's message may vary per
 * attempt, so the first one stays for `RETRY.sameMessage`.
 */
export function unknown(
  content: VolumeSnapshotContent,
  now: number,
  { message: text, detail = reasonOf('SnapshotNodeAwaited', { said: text }) }: Explanation,
  reason?: string,
): Decision<ContentAction> {
  const { error } = content.status ?? {};
  const reported = detailOf(content);
  const stands = isRecent(error?.time, now, RETRY.sameMessage);
  if (stands && reported !== undefined && keyOf(reported) === keyOf(detail)) return { retry: true };
  const why = { message: `waiting for a node: ${text}`, detail };
  return { ...waitFor(content, now, reason ?? SNAPSHOT_EVENT.checkFailed, why), retry: true };
}
