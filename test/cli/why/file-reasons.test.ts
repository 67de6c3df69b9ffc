import { expect, test } from '@jest/globals';
import { type Reason, reason } from '../../../src/api/reasons.ts';
import { obstructionOf } from '../../../src/cli/why/obstruction.ts';

const RESTORE = 'Restore the file, or delete the Volume if its data is not needed.';
const MOUNT =
  'Mount the directory over NFS 4 with the options rw, hard and local_lock=none. The command lists the mounts.';
const MOUNTS = ['ssh n1 findmnt'];
const file = '/srv/v/1';

test.each<[Reason, string | undefined, string, string[] | undefined]>([
  [reason('BackingFileMissing', { file }), 'DeviceMissing', RESTORE, undefined],
  [reason('MadeFileMissing', { file }), 'DeviceMissing', RESTORE, undefined],
  [
    reason('LoopAttachedTwice', { file, devices: '/dev/loop3' }),
    undefined,
    'Detach all loop devices of the file but one with losetup -d. The command lists the mounted ones.',
    MOUNTS,
  ],
  [
    reason('LoopFileMoved', { file, device: '/dev/loop3', found: '/srv/.nfs1' }),
    undefined,
    'Copy data that only the loop device has, end its use, then detach it with losetup -d. The command lists the mounts.',
    MOUNTS,
  ],
  [
    reason('LoopDetachPending', { device: '/dev/loop3' }),
    undefined,
    'End what still uses the device there. The kernel removes it with its last user.',
    ['ssh n1 losetup -l'],
  ],
  [reason('SharedMountMissing', { directory: '/srv/v' }), undefined, MOUNT, MOUNTS],
  [
    reason('SharedMountUnfit', { directory: '/srv/v', mountPoint: '/', type: 'ext4' }),
    undefined,
    MOUNT,
    MOUNTS,
  ],
  [
    reason('OwnerUnreadable', { path: `${file}.owner.4`, file }),
    undefined,
    'Remove the owner file once losetup -a lists the backing file on no node. The command lists the mounts.',
    MOUNTS,
  ],
  [
    reason('CopiedFileInUse', { file, device: '/dev/loop3', uses: 'it is swap' }),
    'DeviceInUse',
    'End that use of /dev/loop3, or use another device.',
    undefined,
  ],
  [
    reason('NotPlainFile', { file }),
    undefined,
    'Check on the node what took its place.',
    undefined,
  ],
])('obstructionOf explains %j', (detail, cause, say, run) => {
  expect(obstructionOf(detail, { node: 'n1' })).toEqual({
    ...{ reason: detail, cause },
    fix: { say, ...(run && { run }) },
  });
});
