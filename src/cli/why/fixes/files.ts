import type { FILES } from '../../../api/reasons/files.ts';
import { onNode } from '../../lib/command-line.ts';
import type { Fix } from '../types.ts';
import type { FixContext, Fixes } from './types.ts';

const say = 'Restore the file, or delete the Volume if its data is not needed.';

/** Returns the fix for an uncertain state on a node, for which the list of mounts is useful. */
export const withMounts =
  (action: string) =>
  (_: unknown, { node }: FixContext): Fix => ({
    say: action,
    run: [onNode(node, 'findmnt')],
  });

export const files: Fixes<typeof FILES> = {
  // The retry follows as a command.
  FileExists: () => ({ say: 'Check the file, and move it away if it is not needed.' }),
  MadeFileMissing: () => ({ say }),
  BackingFileMissing: () => ({ say }),
  LoopAttachedTwice: withMounts(
    'Detach all loop devices of the file but one with losetup -d. The command lists the mounted ones.',
  ),
  LoopFileMoved: withMounts(
    'Copy data that only the loop device has, end its use, then detach it with losetup -d. The command lists the mounts.',
  ),
  LoopDetachPending: (_, { node }) => ({
    say: 'End what still uses the device there. The kernel removes it with its last user.',
    run: [onNode(node, 'losetup', '-l')],
  }),
};
