import { READY_REASON } from '../../api/names.ts';
import { nodeOf } from '../../model/desired-volume.ts';
import { onNode } from '../lib/command-line.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { sinceOf } from './state.ts';
import type { Cause } from './types.ts';

/**
 * Reports that the file system of the Volume's directory is not mounted, which blocks provisioning,
 * attaching and deleting.
 */
export const directoryNotMounted: Cause = ({ volume }) => {
  const ready = readyOf(volume);
  if (ready?.reason !== READY_REASON.directoryNotMounted) return undefined;
  return {
    cause: 'DirectoryNotMounted',
    holdup: ready.message || ready.reason,
    ...sinceOf(ready),
    next: { when: 'automatically, once it is mounted' },
    fix: {
      say: `Mount the file system on ${nodeOf(volume)}, and add it to /etc/fstab for each boot. The command mounts what /etc/fstab lists.`,
      run: [onNode(nodeOf(volume), 'mount', '-a')],
    },
  };
};
