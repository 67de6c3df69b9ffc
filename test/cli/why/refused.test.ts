import { expect, test } from '@jest/globals';
import { refusedBy } from '../../../src/cli/why/refused.ts';
import { describeFailure } from '../../../src/nodes/job-text.ts';
import { quote, quoteAll } from '../../../src/nodes/quote.ts';
import { volumeNamed } from '../../support/volumes.ts';

const failed = (exit: number, command: string, output: string) =>
  describeFailure({
    state: 'failed',
    exit,
    output,
    step: { name: 'make the file system', command: quoteAll(command.split(' ')) },
  } as never);
const volume = volumeNamed('data1');

test.each<[string, string | undefined, string, string[] | undefined]>([
  [
    'a program that is missing',
    'ToolMissing',
    failed(127, 'mkfs.xfs -f /dev/loop1', 'sh: 1: mkfs.xfs: not found'),
    ['ssh n1 apt-get install -y xfsprogs'],
  ],
  [
    'one that has another name in Debian',
    'ToolMissing',
    failed(126, 'udevadm settle', 'Permission denied'),
    ['ssh n1 apt-get install -y udev'],
  ],
  ['one that nobody knows', 'ToolMissing', failed(127, 'frobnicate x', ''), undefined],
  ['one that failed otherwise', undefined, failed(1, 'mkfs.xfs -f /dev/loop1', 'no'), undefined],
  [
    'a device of another Volume',
    'DeviceOfAnother',
    '/dev/sdb belongs to another Volume, data0. Two Volumes cannot share a device.',
    ['stowage delete volume data0 --wait'],
  ],
  [
    'a device of one that is gone',
    'DeviceOfAnother',
    '/dev/sdb belongs to another Volume, with the UID 1-2. Two Volumes cannot share a device.',
    undefined,
  ],
  [
    'a device that is mounted',
    'DeviceInUse',
    '/dev/sdb is in use: mounted at /srv/a. Nothing is written to a device in use. To end that, run on the node: umount /srv/a',
    ["ssh n1 'umount /srv/a'"],
  ],
  [
    'the same, where a shell would make several words of it, or run it: that of ssh, and that of the node',
    'DeviceInUse',
    '/dev/sdb is in use: mounted at /srv/a\\040$(b). To end that, run on the node: umount ' +
      "'/srv/a $(b)'",
    [`ssh n1 ${quote(`umount ${quote('/srv/a $(b)')}`)}`],
  ],
  [
    'a device that is in use as a precondition sees it',
    'DeviceInUse',
    '/dev/sdb is in use: it is swap',
    undefined,
  ],
  [
    'a program that fills volumes and is missing',
    'ToolMissing',
    'the step "fill it from Image a/b" failed with status 3: stowage-image: this node has no program xz, which a source that is compressed by xz takes',
    ['ssh n1 apt-get install -y xz-utils'],
  ],
  [
    'a device that is not there',
    'DeviceMissing',
    'there is no device /dev/sdz on the node. Name one',
    undefined,
  ],
  [
    'a directory that is full',
    'NoSpace',
    failed(1, 'mkfs.ext4 x', 'mkfs.ext4: No space left on device'),
    ['ssh n1 df -h /var/lib/metalk8s/storage/sparse'],
  ],
  [
    'a volume group without room',
    'NoSpace',
    'the volume group vg0 has 4194304 bytes left, and the Volume needs 8388608',
    ['ssh n1 df -h /var/lib/metalk8s/storage/sparse'],
  ],
  ['anything else', undefined, 'the device says no', undefined],
])('%s', (_, cause, message, run) => {
  const found = refusedBy(volume, message);
  expect(found?.cause).toBe(cause);
  expect(found?.fix.run).toEqual(run);
});
