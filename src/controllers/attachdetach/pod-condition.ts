import type { PodCondition } from '../../api/core.ts';
import { VOLUMES_ATTACHED_CONDITION, VOLUMES_ATTACHED_REASON } from '../../api/names.ts';
import { compare } from './desired-state.ts';
import type { NodeAttachment } from './types.ts';

/** How many volumes a message names. */
const NAMED = 10;

export interface PodVolume {
  /** The Volume's name. */
  volume: string;
  /** On the pod's node; undefined: it is not there. */
  entry: NodeAttachment | undefined;
  /** Why it waits, if a policy keeps it from being attached. */
  blocked?: string | undefined;
}

/**
 * The condition of a pod that tells whether all its volumes can be mounted; undefined for a pod of which none is managed.
 * It is the old one itself when nothing has changed, so that nothing is written.
 * @param old the pod's own, as it is now
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
  // What was there is not gone because nobody looked yet: after each start of ours all is uncertain, and pods that have the
  // condition as readiness gate would all stop to be served.
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
  // Of apimachinery's Time, which has whole seconds.
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
  if (entry === undefined) return 'it is not attached yet';
  const { node, message } = entry;
  const why = message === undefined ? '' : `: ${message}`;
  switch (entry.state) {
    case 'Attached':
      return `it is attached to ${node}, but its persistent path is not there yet${why}`;
    case 'Attaching':
      return `it is being attached to ${node}${why}`;
    case 'Detaching':
      return `it is being detached from ${node}, and attached again after that${why}`;
    case 'Uncertain':
      return `whether it is attached to ${node} is not known, and is found out by a look at it${why}`;
  }
}
