import type { Pod } from '../../api/core.ts';
import { OF_IMAGES, ON_ITS_WAY } from './kubelet-words.ts';
import { CONTAINER } from './objects.ts';
import type { Standstill } from './types.ts';

/** Maximum length of a log in an event, in characters. */
const MAX_LOG = 600;

/**
 * Reports whether the container has completed its work. The container of a deleted pod may exit
 * with 0, too, although its work is incomplete. Pure.
 */
export const hasFilled = ({ metadata, status }: Pod): boolean =>
  status?.phase === 'Succeeded' && metadata.deletionTimestamp === undefined;

/** Describes the end of a failed container on one line, with the end of its log. Pure. */
export function lastWords({ status }: Pod): string {
  const terminated = status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state
    ?.terminated;
  // The pod's own reason and message name its terminator, such as a kubelet without room: Evicted.
  const parts = [
    status?.reason,
    status?.message && shortened(status.message),
    terminated && howEnded(terminated),
    terminated?.message && shortened(terminated.message),
  ].filter((part) => part);
  return parts.length === 0 ? 'no message' : parts.join(': ');
}

function howEnded({ reason, exitCode }: { reason?: string; exitCode?: number }): string {
  return exitCode === undefined ? (reason ?? '') : `exit status ${exitCode}`;
}

function shortened(log: string): string {
  const line = log.trim().replaceAll(/\s+/g, ' ');
  return line.length > MAX_LOG ? `…${line.slice(-MAX_LOG)}` : line;
}

/** Describes how a pod was deleted, with the cause if known. Pure. */
export function howDeleted({ spec, status }: Pod): string {
  const target = status?.conditions?.find(
    ({ type, status: is }) => type === 'DisruptionTarget' && is === 'True',
  );
  const by = [target?.reason, target?.message && shortened(target.message)]
    .filter((part) => part)
    .join(': ');
  const where = spec.nodeName === undefined ? '' : ` on node ${spec.nodeName}`;
  return `it was deleted${where} before it ended${by === '' ? '' : ` (${by})`}`;
}

/** Reports whether the scheduler finds no node for the pod. Pure. */
export const isUnscheduled = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'PodScheduled' && is === 'False') ??
  false;

/**
 * Returns why a pod does not run: no node, no image, no Secret. Undefined if no obstacle is known.
 * Pure.
 */
export function whyNotRunning(pod: Pod): Standstill | undefined {
  const { status } = pod;
  const waiting = status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state?.waiting;
  const { reason: state = '', message } = waiting ?? {};
  if (state !== '' && !ON_ITS_WAY.includes(state)) {
    const text = message ? shortened(message) : undefined;
    return {
      code: OF_IMAGES.includes(state) ? 'ImageRefused' : 'PodNotStarted',
      state,
      message: text,
    };
  }
  if (!isUnscheduled(pod)) return undefined;
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const cause = scheduled?.message || scheduled?.reason || 'no node found';
  return { code: 'PodUnscheduled', message: shortened(cause) };
}

/** Formats an obstacle as text. Pure. */
export const standstillText = ({ state, message }: Standstill): string =>
  [state, message].filter((part) => part !== undefined).join(': ');
