import type { Volume } from '../../api/volume.ts';
import type { Observed } from '../../storage/registry.ts';
import type { Space } from '../../storage/types.ts';

export interface SeenSpace {
  node: string;
  space: Space;
  /** ms since the epoch. */
  at: number;
}

export interface VolumeSpace {
  observed(volume: Volume, node: string, observed: Observed): void;
  /** Of a Volume that is gone. */
  forget(volume: Volume): void;
  /** What was seen of these Volumes and not of a node that has been away since. */
  of(volumes: readonly Volume[]): SeenSpace[];
}

/** For how long what was seen is told, in ms. Nodes that answer are looked at every 30 s. */
const LASTS = 5 * 60_000;

/** The space that Volumes take, and what is left beside them, as their nodes were seen last. */
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
