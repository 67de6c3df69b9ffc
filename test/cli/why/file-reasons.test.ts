import { expect, test } from '@jest/globals';
import { type Reason, reason } from '../../../src/api/reasons.ts';
import { obstructionOf } from '../../../src/cli/why/obstruction.ts';

const PUT_RIGHT = 'Put right what the message names.';
const MOUNTS = ['ssh n1 findmnt'];
const file = '/srv/v/1';

test.each<[Reason, string | undefined, string, string[] | undefined]>([
  [reason('BackingFileMissing', { file }), 'DeviceMissing', PUT_RIGHT, undefined],
  [reason('MadeFileMissing', { file }), 'DeviceMissing', PUT_RIGHT, undefined],
  [reason('LoopAttachedTwice', { file, devices: '/dev/loop3' }), undefined, PUT_RIGHT, MOUNTS],
  [
    reason('LoopFileMoved', { file, device: '/dev/loop3', found: '/srv/.nfs1' }),
    undefined,
    PUT_RIGHT,
    MOUNTS,
  ],
  [
    reason('LoopDetachPending', { device: '/dev/loop3' }),
    undefined,
    'End what still uses the device there; it goes with its last user.',
    ['ssh n1 losetup -l'],
  ],
  [reason('SharedMountMissing', { directory: '/srv/v' }), undefined, PUT_RIGHT, MOUNTS],
  [
    reason('SharedMountUnfit', { directory: '/srv/v', mountPoint: '/', type: 'ext4' }),
    undefined,
    PUT_RIGHT,
    MOUNTS,
  ],
  [reason('OwnerUnreadable', { path: `${file}.owner.4`, file }), undefined, PUT_RIGHT, MOUNTS],
  [
    reason('CopiedFileInUse', { file, device: '/dev/loop3', uses: 'it is swap' }),
    'DeviceInUse',
    'Take /dev/loop3 out of use, as the message says it is, or use another device.',
    undefined,
  ],
  [
    reason('NotPlainFile', { file }),
    undefined,
    'Look at what took its place on the node.',
    undefined,
  ],
])('%j', (detail, cause, say, run) => {
  expect(obstructionOf(detail, { node: 'n1' })).toEqual({
    ...{ reason: detail, cause },
    fix: { say, ...(run && { run }) },
  });
});
