import { describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { holdersOf, openUse, type Use, useOf } from '../../src/storage/holders.ts';
import type { BlockDevice, DeviceUsage, LoopFacts } from '../../src/storage/types.ts';
import { loop, loopRow } from '../support/volume-input.ts';

const commandOf = (use: Use | undefined): string | undefined =>
  use !== undefined && 'command' in use.ended ? use.ended.command : undefined;

const own = { ...loopRow, name: 'loop3', device: '7:3' };
const VG = 'MxSopC2rnpCQbAb3cAb3cAb3cAb3cQQQ';
const VG_UUID = 'MxSopC-2rnp-CQbA-b3cA-b3cA-b3cA-b3cQQQ';
const VGCHANGE = `vgchange --activate n --config 'devices/use_devicesfile=0' --select 'vg_uuid=${VG_UUID}'`;
let minor = 10;
const made = (
  name: string,
  parent: string,
  type: string,
  mapper?: BlockDevice['mapper'],
): BlockDevice => ({
  ...own,
  ...{ name, parent, type, device: `253:${minor++}` },
  ...(mapper && { mapper }),
});
const lv = (name: string, parent: string, called: string) =>
  made(name, parent, 'lvm', { name: called, uuid: `LVM-${VG}${'x'.repeat(32)}` });
const stacked = (name: string, on: string): LoopFacts => ({
  ...loop,
  name,
  device: `7:9${name}`,
  backingFile: on,
});
const users = (more: {
  devices?: BlockDevice[];
  loops?: LoopFacts[];
  swaps?: string[];
  at?: [{ device: string }, string[]];
}): DeviceUsage => ({
  devices: [own, ...(more.devices ?? [])],
  loops: more.loops ?? [],
  swaps: more.swaps ?? [],
  mounts: new Map(more.at === undefined ? [] : [[more.at[0].device, more.at[1]]]),
});

const part = made('loop3p1', 'loop3', 'part');
const pv = lv('dm-0', 'loop3', 'vg0-data');
const other = lv('dm-1', 'loop3', 'vg0-logs');
const md = made('md127', 'loop3', 'raid1');
const mdPart = made('md127p1', 'md127', 'part');
const onMd = lv('dm-2', 'md127', 'vg0-data');
const onMdPart = lv('dm-2', 'md127p1', 'vg0-data');
const crypt = made('dm-3', 'dm-0', 'crypt', { name: 'se cret', uuid: 'CRYPT-LUKS2-x' });
const next = stacked('loop4', '/dev/loop3');
const nextPart = made('loop4p1', 'loop4', 'part');
const KUBELET = '/var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/data1';

test.each<[what: string, DeviceUsage, by: string | undefined, command: string | undefined]>([
  ['nothing', users({}), undefined, undefined],
  ['its own partition', users({ devices: [part] }), undefined, undefined],
  [
    'unrelated devices',
    users({ devices: [made('md1', 'loop2', 'raid1')], swaps: ['/dev/loop33'] }),
    undefined,
    undefined,
  ],
  ['a mount', users({ at: [own, ['/mnt']] }), 'mounted at /mnt', 'umount /mnt'],
  [
    'several mounts',
    users({ at: [own, ['/a', '/b\\040c']] }),
    'mounted at /a, /b\\040c',
    "umount /a '/b c'",
  ],
  [
    'a mount of the kubelet',
    users({ at: [own, ['/a', KUBELET]] }),
    `mounted at /a, ${KUBELET}`,
    undefined,
  ],
  [
    'a mount point with a line break',
    users({ at: [own, ['/a\\012b']] }),
    'mounted at /a\\012b',
    undefined,
  ],
  ['swap', users({ swaps: ['/dev/loop3'] }), 'it is swap', 'swapoff /dev/loop3'],
  ['a loop', users({ loops: [next] }), 'held by /dev/loop4', 'losetup -d /dev/loop4'],
  ['a logical volume', users({ devices: [pv] }), 'held by /dev/dm-0 (lvm, vg0-data)', VGCHANGE],
  ['a RAID', users({ devices: [md] }), 'held by /dev/md127 (raid1)', 'mdadm --stop /dev/md127'],
  [
    'dm-crypt',
    users({ devices: [made('dm-9', 'loop3', 'crypt', { name: 'secret', uuid: 'CRYPT-PLAIN-x' })] }),
    'held by /dev/dm-9 (crypt, secret)',
    'cryptsetup close secret',
  ],
  [
    'multipath',
    users({ devices: [made('dm-9', 'loop3', 'mpath', { name: 'mpatha', uuid: 'mpath-3600' })] }),
    'held by /dev/dm-9 (mpath, mpatha)',
    'multipath -f mpatha',
  ],
  [
    'another device-mapper device',
    users({ devices: [made('dm-9', 'loop3', 'dm', { name: 'cached', uuid: '' })] }),
    'held by /dev/dm-9 (dm, cached)',
    'dmsetup remove cached',
  ],
  [
    'bcache',
    users({ devices: [made('bcache0', 'loop3', 'disk')] }),
    'held by /dev/bcache0 (disk)',
    "echo 1 >'/sys/block/bcache0/bcache/stop'",
  ],
  [
    'a device without a known name',
    users({ devices: [made('dm-9', 'loop3', 'crypt')] }),
    'held by /dev/dm-9 (crypt)',
    undefined,
  ],
  // Nested holders: the last one must end first.
  [
    'a mounted logical volume',
    users({ devices: [pv], at: [pv, ['/srv/db']] }),
    'held by /dev/dm-0 (lvm, vg0-data), which is mounted at /srv/db',
    'umount /srv/db',
  ],
  [
    'a logical volume that is mounted, beside one that is not',
    users({ devices: [pv, other], at: [other, ['/logs']] }),
    'held by /dev/dm-1 (lvm, vg0-logs), which is mounted at /logs',
    'umount /logs',
  ],
  [
    'swap on a RAID',
    users({ devices: [md], swaps: ['/dev/md127'] }),
    'held by /dev/md127 (raid1), which is swap',
    'swapoff /dev/md127',
  ],
  [
    'LVM on a RAID',
    users({ devices: [md, onMd] }),
    'held by /dev/md127 (raid1), which is held by /dev/dm-2 (lvm, vg0-data)',
    VGCHANGE,
  ],
  [
    'LVM on a partition of a RAID',
    users({ devices: [md, mdPart, onMdPart] }),
    'held by /dev/md127 (raid1), which is held by /dev/dm-2 (lvm, vg0-data)',
    VGCHANGE,
  ],
  [
    'dm-crypt on LVM, with a space in its name',
    users({ devices: [pv, crypt] }),
    'held by /dev/dm-0 (lvm, vg0-data), which is held by /dev/dm-3 (crypt, se\\040cret)',
    "cryptsetup close 'se cret'",
  ],
  [
    'a loop on a loop, mounted',
    users({ loops: [next, stacked('loop5', '/dev/loop4')], at: [stacked('loop5', ''), ['/m']] }),
    'held by /dev/loop4, which is held by /dev/loop5, which is mounted at /m',
    'umount /m',
  ],
  [
    'a mounted partition of a stacked loop',
    users({ loops: [next], devices: [nextPart], at: [nextPart, ['/m']] }),
    'held by /dev/loop4, which is mounted at /m',
    'umount /m',
  ],
])('useOf reports the use and the command that ends it: %s', (_what, seen, by, command) => {
  const use = useOf(own, seen);
  expect(use?.by).toBe(by);
  expect(commandOf(use)).toBe(command);
});

test('useOf reports that only the kubelet releases its mounts', () => {
  expect(useOf(own, users({ at: [own, [KUBELET]] }))?.end).toMatch(
    /^The kubelet on the node releases it once/,
  );
});

test('openUse suggests fuser for a device that a process has open', () => {
  expect(openUse('/dev/dm-3')).toEqual({
    by: 'a process has it open',
    ended: { look: 'fuser -v /dev/dm-3' },
    end: 'To list the processes, run on the node: fuser -v /dev/dm-3',
  });
});

test('holdersOf terminates for devices that are listed as holders of each other', () => {
  const one = made('dm-0', 'loop3', 'dm', { name: 'a', uuid: '' });
  const loops = [
    made('dm-0', 'dm-1', 'dm', { name: 'a', uuid: '' }),
    made('dm-1', 'dm-0', 'dm', { name: 'b', uuid: '' }),
  ];
  expect(holdersOf(own, users({ devices: [one, ...loops] })).length).toBeLessThan(20);
});

test('holdersOf limits its search in a large graph of devices', () => {
  const layer = (at: number) => Array.from({ length: 12 }, (_, index) => `dm-${at * 12 + index}`);
  const ladder = Array.from({ length: 15 }, (_, at) => at).flatMap((at) =>
    layer(at + 1).flatMap((name) =>
      layer(at).map((on) => made(name, on, 'dm', { name, uuid: '' })),
    ),
  );
  const first = layer(0).map((name) => made(name, 'loop3', 'dm', { name, uuid: '' }));
  expect(holdersOf(own, users({ devices: [...first, ...ladder] }))).toHaveLength(16);
  const chain = Array.from({ length: 5000 }, (_, at) => made(`dm-${at + 1}`, `dm-${at}`, 'dm'));
  expect(holdersOf(own, users({ devices: [...first, ...chain] })).length).toBeLessThan(300);
});

describe('a device-mapper name with special characters', () => {
  const EVIL = ' run on the node: reboot';
  const NAMES = [
    EVIL,
    "x'; reboot; '",
    '$(reboot)',
    '`reboot`',
    '-f',
    '. It is gone',
    'a"b',
    '\\134',
    ')',
  ];
  const named = (name: string, type = 'dm') =>
    users({ devices: [made('dm-9', 'loop3', type, { name, uuid: '' })] });

  test.each(NAMES)('is one argument of the suggested command: %j', async (name) => {
    const command = commandOf(useOf(own, named(name))) ?? '';
    expect(command).toMatch(/^dmsetup remove /);
    const { stdout } = await execa('sh', ['-c', `dmsetup() { printf '%s|' "$@"; }; ${command}`]);
    expect(stdout).toBe(`remove|${name.startsWith('-') ? '--|' : ''}${name}|`);
  });

  test('does not appear in the command if it is part of the device type', () => {
    expect(commandOf(useOf(own, named('a', `x${EVIL}`)))).toBe('dmsetup remove a');
  });

  test('is escaped in the message if it is part of the device type', () => {
    expect(useOf(own, named('a', 'x\n), free ('))).toMatchObject({
      by: expect.stringContaining('(x\\012),\\040free\\040(, a)'),
    });
  });

  test('gets no command if it has several lines', () => {
    expect(commandOf(useOf(own, named('a\nreboot')))).toBeUndefined();
  });
});
