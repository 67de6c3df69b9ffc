import { expect, test } from '@jest/globals';
import type { ProbeResult } from '../../../src/nodes/job.ts';
import { locate } from '../../../src/storage/block/locate.ts';
import type { BlockDevice, DeviceUsage } from '../../../src/storage/types.ts';

const SIZE = 1n << 30n;
const row = (name: string, device: string, more: Partial<BlockDevice> = {}): BlockDevice => ({
  ...{ name, device, parent: undefined, type: 'disk', sizeBytes: SIZE, readOnly: false },
  ...{ serial: undefined, wwn: undefined },
  ...more,
});
const [WWN, OTHER] = ['0x5000c500a1b2c3d4', '0x5000c500ffffffff'];
const sda = row('sda', '8:0', { wwn: WWN, serial: 'S1' });
const sdb = row('sdb', '8:16', { wwn: OTHER, serial: 'S2' });
const part = row('sda1', '8:1', { type: 'part', parent: 'sda' });
const map = row('dm-0', '254:0', { type: 'mpath', parent: 'sda' });
const IDENTITY = `wwn=${WWN} serial=S1 size=${SIZE}`;

const result = (exit: number, stdout = '', stderr = ''): ProbeResult => ({ exit, stdout, stderr });
const missing = result(1, '', 'No such file or directory');
const at = (device: string) =>
  result(
    0,
    device
      .split(':')
      .map((part) => Number(part).toString(16))
      .join(':'),
  );
const leadsTo = (device: string) => result(0, `block special file|${at(device).stdout}`);

interface Case {
  target?: ProbeResult;
  /** Result of udev's link for the UUID or GUID. */
  link?: ProbeResult;
  devices?: BlockDevice[];
  identity?: string | undefined;
  recorded?: boolean;
}

function located({ target = missing, link = missing, devices = [sda, sdb], ...desired }: Case) {
  const answers: Record<string, ProbeResult> = { target, 'content link': link };
  const users: DeviceUsage = { devices, loops: [], mounts: new Map(), swaps: [] };
  const found = locate((name) => answers[name] ?? missing, users, {
    recorded: true,
    identity: IDENTITY,
    ...desired,
  });
  return typeof found === 'object'
    ? `${found.row.name}${found.isElsewhere ? ', elsewhere' : ''}`
    : found;
}

test.each<[string, Case, string | undefined]>([
  ['the path leads to the device', { target: leadsTo('8:0') }, 'sda'],
  ['the link was renamed', {}, 'sda, elsewhere'],
  ['the path leads to another disk', { target: leadsTo('8:16') }, 'sda, elsewhere'],
  [
    'the path leads to another disk, and the device is gone',
    { target: leadsTo('8:16'), devices: [sdb] },
    'sdb',
  ],
  ['no device has the identity', { devices: [sdb] }, undefined],
  ['nothing was provisioned yet', { recorded: false }, undefined],
  ['no identity is recorded', { identity: undefined }, undefined],
  [
    'the path leads to a device without identifiers',
    { target: leadsTo('8:16'), devices: [sda, row('sdb', '8:16')] },
    'sdb',
  ],
  [
    'only the serial number is known, and a device has the UUID or GUID',
    { identity: `serial=S1 size=${SIZE}`, link: at('8:0') },
    'sda, elsewhere',
  ],
  [
    'only the serial number is known, and no device has the UUID or GUID',
    { identity: `serial=S1 size=${SIZE}` },
    undefined,
  ],
  [
    'a device with a different identity has the UUID',
    { identity: `serial=S3 size=${SIZE}`, link: at('8:0') },
    undefined,
  ],
  ['the device is smaller than recorded', { identity: `wwn=${WWN} size=${2n * SIZE}` }, undefined],
  [
    'a partition of a disk',
    { identity: `wwn=${WWN} serial=S1 partition=1 size=${SIZE}`, devices: [sda, part] },
    'sda1, elsewhere',
  ],
  [
    'the partition of a whole disk carries the GUID',
    { identity: `serial=S1 size=${SIZE}`, link: at('8:1'), devices: [sda, part] },
    'sda, elsewhere',
  ],
  ['multipathd has taken the disk', { target: leadsTo('8:0'), devices: [sda, sdb, map] }, 'dm-0'],
  [
    'multipathd has taken the disk, and the link is gone',
    { devices: [sda, sdb, map] },
    'dm-0, elsewhere',
  ],
  ['the path is the map itself', { target: leadsTo('254:0'), devices: [sda, sdb, map] }, 'dm-0'],
  [
    'no disk is behind the path',
    { target: leadsTo('8:32'), devices: [sdb] },
    'device node without a disk behind it',
  ],
  ['the path is a directory', { target: result(0, 'directory|0:0'), devices: [sdb] }, 'directory'],
])('locate: %s', (_, input, expected) => {
  expect(located(input)).toBe(expected);
});
