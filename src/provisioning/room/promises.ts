import type { Volume } from '../../api/volume.ts';

/** Volumes that are being created, and not in the cache yet: their room is taken from when that was decided. */
export interface Promises {
  /** @returns what ends it, once the Volume is in the cache or was not created */
  promise(volume: Volume): () => void;
  on(node: string): readonly Volume[];
}

export function createPromises(): Promises {
  const promised = new Set<Volume>();
  return {
    promise(volume) {
      promised.add(volume);
      return () => promised.delete(volume);
    },
    on: (node) => [...promised].filter(({ spec }) => spec.nodeName === node),
  };
}
