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
    next: { when: 'by itself, once it is mounted' },
    fix: {
      say: `Mount it on ${nodeOf(volume)}, and have /etc/fstab mount it at each boot. This mounts what is there already:`,
      run: [onNode(nodeOf(volume), 'mount', '-a')],
    },
  };
};
