import type { PodCondition } from '../../api/core.ts';
import { VOLUMES_ATTACHED_CONDITION, VOLUMES_ATTACHED_REASON } from '../../api/names.ts';
import { compare } from './desired-state.ts';
import type { NodeAttachment } from './types.ts';

/** Maximum number of volumes that a message names. */
const NAMED = 10;

export interface PodVolume {
  volume: string;
  /** Entry of the pod's node; undefined if the volume is not attached there. */
  entry: NodeAttachment | undefined;
  /** Reason for which the attach is refused or failed, if any. */
  blocked?: string | undefined;
}

/**
 * Returns the condition that reports whether all volumes of a pod can be mounted; undefined for a
 * pod without managed volumes. Returns `old` itself if nothing has changed, so that nothing is
 * written.
 * @param old current condition of the pod
 * @param now ms since the epoch
 */
export function conditionOf(
  volumes: readonly PodVolume[],
  old: PodCondition | undefined,
  now: number,
): PodCondition | undefined {
  if (volumes.length === 0) return undefined;
  const waiting = volumes
    .filter((volume) => !isReady(volume))
    .sort((a, b) => compare(a.volume, b.volume));
  // All attachments are uncertain after each start. Keep the condition until they are verified:
  // pods with it as readiness gate would otherwise lose their traffic.
  const isUnknown =
    waiting.length > 0 && waiting.every(({ entry }) => entry?.state === 'Uncertain');
  if (isUnknown && old?.status === 'True') return old;
  const status = waiting.length === 0 ? 'True' : 'False';
  const reason =
    waiting.length === 0 ? VOLUMES_ATTACHED_REASON.attached : VOLUMES_ATTACHED_REASON.notAttached;
  const message = messageOf(waiting);
  if (old?.status === status && old.reason === reason && (old.message ?? '') === message)
    return old;
  const since = old?.status === status ? old.lastTransitionTime : undefined;
  // Apimachinery's Time has whole seconds.
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    type: VOLUMES_ATTACHED_CONDITION,
    status,
    reason,
    message,
    lastTransitionTime: since ?? at,
  };
}

const isReady = ({ entry, blocked }: PodVolume): boolean =>
  blocked === undefined && entry?.state === 'Attached' && entry.safeToMount;

function messageOf(waiting: readonly PodVolume[]): string {
  const named = waiting.slice(0, NAMED).map((volume) => `${volume.volume}: ${waitReason(volume)}`);
  const more = waiting.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function waitReason({ entry, blocked }: PodVolume): string {
  if (blocked !== undefined) return blocked;
  if (entry === undefined) return 'not attached yet';
  const { node, message } = entry;
  const why = message === undefined ? '' : `: ${message}`;
  switch (entry.state) {
    case 'Attached':
      return `attached to node ${node}, but its persistent path does not exist yet${why}`;
    case 'Attaching':
      return `attaching to node ${node}${why}`;
    case 'Detaching':
      return `detaching from node ${node}, then attaching again${why}`;
    case 'Uncertain':
      return `attachment to node ${node} is uncertain; verifying${why}`;
  }
}
