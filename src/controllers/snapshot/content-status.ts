import { SNAPSHOT_EVENT } from '../../api/names.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import { RETRY } from '../../model/retry.ts';
import { setProblem } from './status.ts';
import type { ContentAction, Decision } from './types.ts';

export const idle: Decision<ContentAction> = {};

/** Says what a content waits for, once; whatever that is wakes it. */
export function waitFor(
  content: VolumeSnapshotContent,
  now: number,
  reason: string,
  message: string,
): Decision<ContentAction> {
  const action = setProblem(content, now, reason, message);
  return action === undefined ? idle : { action };
}

/** The node cannot tell: it is asked again after a delay that grows. */
export function unknown(
  content: VolumeSnapshotContent,
  now: number,
  message: string,
  reason?: string,
): Decision<ContentAction> {
  const { error } = content.status ?? {};
  const said = Date.parse(error?.time ?? '');
  if (error !== undefined && now - said < RETRY.sameMessage && isOfNode(error.message))
    return { retry: true };
  const action = setProblem(
    content,
    now,
    reason ?? SNAPSHOT_EVENT.checkFailed,
    `${OF_NODE}${message}`,
  );
  return action === undefined ? { retry: true } : { action, retry: true };
}

/** How messages begin that say that a node does not answer. */
const OF_NODE = 'waits for a node: ';

const isOfNode = (message: string | undefined): boolean => message?.startsWith(OF_NODE) ?? false;
