import type { ReasonEntry } from './types.ts';

/** Volumes that are filled on their node from an archive, an image or a backup. */
export const FILLS = {
  FillPlacesTaken: {
    message: 'waiting for one of the 16 slots on the node, which are all taken',
  },
  NamespaceFillPlacesTaken: {
    message: 'waiting for a slot on the node: its namespace already has its share',
  },
} as const satisfies Record<string, ReasonEntry>;
