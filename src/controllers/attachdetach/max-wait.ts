import type { StorageClass } from '../../api/core.ts';
import { parseDuration } from '../../api/duration.ts';
import { MAX_WAIT_FOR_UNMOUNT_ANNOTATION } from '../../api/names.ts';

const NEVER = 'never';

/**
 * How long a detach waits for a node that is NotReady, in ms; Infinity: for ever. The class of the volume goes before
 * the flag. What cannot be read waits for ever: nothing is let go of by a slip of the pen.
 * @param fallback the flag's, in ms
 */
export function maxWaitOf(storageClass: StorageClass | undefined, fallback: number): number {
  const text = annotationOf(storageClass);
  if (text === undefined) return fallback;
  return text === NEVER ? Infinity : (readable(text) ?? Infinity);
}

/** What is wrong with a class's annotation, for whoever wrote it; undefined when nothing is. */
export function maxWaitProblem(storageClass: StorageClass | undefined): string | undefined {
  const text = annotationOf(storageClass);
  if (text === undefined || text === NEVER || readable(text) !== undefined) return undefined;
  const shown = JSON.stringify(text.slice(0, 40));
  return (
    `StorageClass ${storageClass?.metadata.name} has ${shown} as ${MAX_WAIT_FOR_UNMOUNT_ANNOTATION}, which is no ` +
    `duration: its volumes are not let go of while a node is NotReady. Write one such as 10m, or ${NEVER}`
  );
}

const annotationOf = (storageClass: StorageClass | undefined): string | undefined =>
  storageClass?.metadata.annotations?.[MAX_WAIT_FOR_UNMOUNT_ANNOTATION];

/** 0 would let go of what a node only needs a moment for: the out-of-service taint says that at once. */
function readable(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms === undefined || ms < 1 ? undefined : ms;
}
