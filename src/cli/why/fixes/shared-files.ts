import type { SHARED_FILES } from '../../../api/reasons/shared-files.ts';
import { withMounts } from './files.ts';
import type { Fixes } from './types.ts';

const mount = withMounts(
  'Mount the directory over NFS 4 with the options rw, hard and local_lock=none. The command lists the mounts.',
);

export const sharedFiles: Fixes<typeof SHARED_FILES> = {
  SharedMountMissing: mount,
  SharedMountUnfit: mount,
  OwnerUnreadable: withMounts(
    'Remove the owner file once losetup -a lists the backing file on no node. The command lists the mounts.',
  ),
};
