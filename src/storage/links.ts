import type { Desired } from './types.ts';

type Named = Pick<Desired, 'uid' | 'mode'>;

/** The persistent name of a volume's device, as the specification has it. */
export function linkOf({ uid, mode }: Named, dmUuid?: string): string {
  if (mode === 'Filesystem') return `/dev/disk/by-uuid/${uid}`;
  // A logical volume has a name of its own that lasts, and room for no other.
  return dmUuid === undefined ? `/dev/disk/by-partuuid/${uid}` : `/dev/disk/by-id/dm-uuid-${dmUuid}`;
}
