import type { ReasonEntry } from './types.ts';

/** Volumes that are filled on their node from an archive, an image or a backup. */
export const FILLS = {
  FillPlacesTaken: {
    message: 'it waits for one of the 16 places on the node, which are all taken',
  },
  NamespaceFillPlacesTaken: {
    message: 'it waits for a place on the node, of which its namespace has its share',
  },
} as const satisfies Record<string, ReasonEntry>;
