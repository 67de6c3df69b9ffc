import type { StorageClass } from '../../api/core.ts';
import { parseDuration } from '../../api/duration.ts';
import { MAX_WAIT_FOR_UNMOUNT_ANNOTATION } from '../../api/names.ts';

const NEVER = 'never';

/**
 * Returns how long a detach waits for a NotReady node, in ms; Infinity: forever. The volume's
 * storage class overrides the flag. An invalid annotation means forever: a typo never causes a
 * force-detach.
 * @param fallback value of the flag, in ms
 */
export function maxWaitOf(storageClass: StorageClass | undefined, fallback: number): number {
  const text = annotationOf(storageClass);
  if (text === undefined) return fallback;
  return text === NEVER ? Infinity : (readable(text) ?? Infinity);
}

/** Returns what is wrong with the annotation of a storage class; undefined if valid. */
export function maxWaitProblem(storageClass: StorageClass | undefined): string | undefined {
  const text = annotationOf(storageClass);
  if (text === undefined || text === NEVER || readable(text) !== undefined) return undefined;
  const shown = JSON.stringify(text.slice(0, 40));
  return (
    `StorageClass ${storageClass?.metadata.name}: annotation ${MAX_WAIT_FOR_UNMOUNT_ANNOTATION} is ${shown}, but must be a ` +
    `duration such as 10m, or ${NEVER}. Until then, its volumes wait for a NotReady node without limit`
  );
}

const annotationOf = (storageClass: StorageClass | undefined): string | undefined =>
  storageClass?.metadata.annotations?.[MAX_WAIT_FOR_UNMOUNT_ANNOTATION];

/**
 * Parses the duration. Rejects 0, which would force-detach during any short outage: the
 * out-of-service taint serves to force-detach at once.
 */
function readable(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms === undefined || ms < 1 ? undefined : ms;
}
