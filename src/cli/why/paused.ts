import { isPaused } from '../../api/paused.ts';
import { resumeCommand } from '../../model/pause.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { foundIn } from '../lib/read-result.ts';
import { isDeleting, isStuck } from './state.ts';
import type { Cause } from './types.ts';

/**
 * Reports that a user paused writes. Available Volumes, and those that wait for a person, would not
 * be written anyway.
 */
export const paused: Cause = ({ volume, node }) => {
  const atRest = readyOf(volume)?.status === 'True' && !isDeleting(volume);
  if (atRest || isStuck(volume)) return undefined;
  const { name } = volume.metadata;
  const places = [
    { kind: 'volume', name, object: volume } as const,
    { kind: 'node', name: nodeOf(volume), object: foundIn(node) } as const,
  ].filter(({ object }) => isPaused(object));
  if (places.length === 0) return undefined;
  const where = places.map(({ kind, name }) => (kind === 'volume' ? 'it' : `node ${name}`));
  return {
    cause: 'Paused',
    ...(places.some(({ kind }) => kind === 'volume')
      ? {}
      : { chain: [{ kind: 'Node', name: nodeOf(volume) }] }),
    holdup: `${where.join(' and ')} ${places.length === 1 ? 'is' : 'are'} paused`,
    next: { when: 'when it is resumed' },
    fix: {
      say: 'End the pause once its reason is gone.',
      run: places.map((place) => resumeCommand(place.kind, place.name)),
    },
  };
};
