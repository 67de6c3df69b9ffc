import type { KubeObject } from '../api/meta.ts';
import { PAUSED_ANNOTATION } from '../api/names.ts';
import { isPaused } from '../api/paused.ts';
import { commandText } from '../nodes/quote.ts';

/** Object whose annotation pauses work: a Volume, a Node, or a Leftover. */
export interface PausedObject {
  kind: string;
  name: string;
}

/**
 * Returns the name of an object if it is paused, else undefined. Pure.
 * @param kind its kind, which items of lists lack
 */
export const pausedObject = (
  kind: string,
  object: KubeObject | undefined,
): PausedObject | undefined =>
  object !== undefined && isPaused(object) ? { kind, name: object.metadata.name } : undefined;

/** Returns the arguments of `stowage resume` for a Volume or a Node, as text in messages. Pure. */
export const resumable = ({ kind, name }: PausedObject): string => `${kind.toLowerCase()} ${name}`;

/**
 * Returns the command that ends the pause of an object. `stowage resume` knows only Volumes and
 * Nodes. Pure. Throws a RangeError for a name with a NUL character.
 * @param kind kind or singular name: `Node`, `node`
 */
export function resumeCommand(kind: string, name: string): string {
  const noun = kind.toLowerCase();
  return noun === 'volume' || noun === 'node'
    ? commandText('stowage', 'resume', noun, name)
    : commandText('kubectl', 'annotate', noun, name, `${PAUSED_ANNOTATION}-`);
}
