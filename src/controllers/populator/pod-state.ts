import type { Pod } from '../../api/core.ts';
import { OF_IMAGES, ON_ITS_WAY } from './kubelet-words.ts';
import { CONTAINER } from './objects.ts';
import type { Standstill } from './types.ts';

/** As much of a log as an event has room for, in characters. */
const MAX_LOG = 600;

/**
 * Whether the container has done all that it does. One that was told to end by somebody who deleted its pod may end with 0 as well,
 * with half of it done. Pure.
 */
export const hasFilled = ({ metadata, status }: Pod): boolean =>
  status?.phase === 'Succeeded' && metadata.deletionTimestamp === undefined;

/** What a container that failed wrote last, and what is known of it otherwise, on one line. Pure. */
export function lastWords({ status }: Pod): string {
  const terminated = status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state
    ?.terminated;
  // Of whoever ended the pod, such as a kubelet whose node has no room: Evicted.
  const parts = [
    status?.reason,
    status?.message && shortened(status.message),
    terminated && howEnded(terminated),
    terminated?.message && shortened(terminated.message),
  ].filter((part) => part);
  return parts.length === 0 ? 'without a word' : parts.join(': ');
}

function howEnded({ reason, exitCode }: { reason?: string; exitCode?: number }): string {
  return exitCode === undefined ? (reason ?? '') : `exit status ${exitCode}`;
}

function shortened(log: string): string {
  const line = log.trim().replaceAll(/\s+/g, ' ');
  return line.length > MAX_LOG ? `…${line.slice(-MAX_LOG)}` : line;
}

/** Who ended a pod that was deleted, as far as that is known. Pure. */
export function howDeleted({ spec, status }: Pod): string {
  const target = status?.conditions?.find(
    ({ type, status: is }) => type === 'DisruptionTarget' && is === 'True',
  );
  const by = [target?.reason, target?.message && shortened(target.message)]
    .filter((part) => part)
    .join(': ');
  const where = spec.nodeName === undefined ? '' : ` on node ${spec.nodeName}`;
  return `it was deleted${where} before it had ended${by === '' ? '' : ` (${by})`}`;
}

/** No node is found for it. Pure. */
export const isUnscheduled = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'PodScheduled' && is === 'False') ??
  false;

/** Why a pod does not run: no node, no image, no Secret. Undefined where it does, or nothing is said of it. Pure. */
export function whyNotRunning(pod: Pod): Standstill | undefined {
  const { status } = pod;
  const waiting = status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state?.waiting;
  const { reason: state = '', message } = waiting ?? {};
  if (state !== '' && !ON_ITS_WAY.includes(state)) {
    const said = message ? shortened(message) : undefined;
    return { code: OF_IMAGES.includes(state) ? 'ImageRefused' : 'PodNotStarted', state, said };
  }
  if (!isUnscheduled(pod)) return undefined;
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const said = scheduled?.message || scheduled?.reason || 'no node is found for it';
  return { code: 'PodUnscheduled', said: shortened(said) };
}

/** The same as text. Pure. */
export const standstillText = ({ state, said }: Standstill): string =>
  [state, said].filter((part) => part !== undefined).join(': ');
