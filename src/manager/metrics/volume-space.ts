import type { Volume } from '../../api/volume.ts';
import type { Observed } from '../../storage/registry.ts';
import type { Space } from '../../storage/types.ts';

export interface SeenSpace {
  node: string;
  space: Space;
  /** Time of the observation, by the clock. */
  at: number;
}

export interface VolumeSpace {
  observed(volume: Volume, node: string, observed: Observed): void;
  /** Drops the space of a deleted Volume. */
  forget(volume: Volume): void;
  /** Returns the space of these Volumes, except on nodes without a recent observation. */
  of(volumes: readonly Volume[]): SeenSpace[];
}

/** Time (ms) for which an observation is reported. Reachable nodes are observed every 30 s. */
const LASTS = 5 * 60_000;

/**
 * Creates a cache of the space that Volumes use, and of the free space beside them, by the last
 * observations.
 */
export function createVolumeSpace(clock: { now(): number }): VolumeSpace {
  const byUid = new Map<string, SeenSpace>();
  return {
    observed({ metadata: { uid = '' } }, node, observed) {
      if ('space' in observed) byUid.set(uid, { node, space: observed.space, at: clock.now() });
    },
    forget({ metadata: { uid = '' } }) {
      byUid.delete(uid);
    },
    of(volumes) {
      const seen = volumes.flatMap(({ metadata: { uid = '' } }) => {
        const found = byUid.get(uid);
        return found === undefined ? [] : [found];
      });
      const nodes = new Map<string, number>();
      for (const { node, at } of seen) nodes.set(node, Math.max(at, nodes.get(node) ?? 0));
      const now = clock.now();
      return seen.filter(({ node }) => now - (nodes.get(node) ?? 0) <= LASTS);
    },
  };
}
