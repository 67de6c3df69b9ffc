import { expect, test } from '@jest/globals';
import { fromHex, readUsage, usageProbes } from '../../src/storage/device-usage.ts';
import { ObservationError } from '../../src/storage/probe-results.ts';

const ok = (stdout: string) => ({ exit: 0, stdout, stderr: '' });
const answers = {
  loops: ok(''),
  devices: ok('{"blockdevices": [{"kname": "sdb", "maj:min": "8:16", "size": 5, "ro": false}]}'),
  mounts: ok(
    '24 1 254:0 / / rw - ext4 /dev/vda rw\n36 24 8:16 / /mnt/a\\040b rw shared:1 - ext4 /dev/sdb rw\n37 24 8:16 /s /c rw - ext4 /dev/sdb rw',
  ),
  swaps: ok(
    'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/sdc2                               partition\t8388604\t\t0\t\t-2\n/swap\\040file file 5 0 -3',
  ),
  mappers: ok(''),
};
const read = (more: object = {}) => {
  const all: Record<string, ReturnType<typeof ok>> = { ...answers, ...more };
  return readUsage((name) => all[name] ?? { exit: 1, stdout: '', stderr: 'x' });
};

test('the test data answers every probe', () => {
  expect(
    usageProbes()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(Object.keys(answers).sort());
});

test('readUsage lists mounts by device number and swaps by path', () => {
  const { mounts, swaps, devices, loops } = read();
  expect(mounts.get('8:16')).toEqual(['/mnt/a\\040b', '/c']);
  expect(swaps).toEqual(['/dev/sdc2', '/swap\\040file']);
  expect(devices).toHaveLength(1);
  expect(loops).toEqual([]);
});

test('a mount of btrfs belongs to the device that is its source', () => {
  const mounts = ok(
    '36 24 0:39 / /b rw shared:1 master:2 - btrfs /dev/sdb rw\n37 24 0:40 / /t rw - tmpfs tmpfs rw',
  );
  expect(read({ mounts }).mounts.get('8:16')).toEqual(['/b']);
});

test('readUsage reads device-mapper names, and tolerates missing or malformed ones', () => {
  const rows = ['dm-0', 'dm-1', 'dm-2', 'dm-3'].map((kname) => ({
    kname,
    'maj:min': '253:0',
    size: 5,
    ro: false,
  }));
  const devices = ok(JSON.stringify({ blockdevices: rows }));
  const place = '/sys/devices/virtual/block';
  const mappers = ok(
    [
      `${place}/dm-0/dm/uuid:LVM-abc`,
      `${place}/dm-0/dm/name:vg0-data`,
      `${place}/dm-1/dm/name:a name:with anything`,
      `${place}/dm-2/dm/name:of two`,
      `${place}/dm-2/dm/name:lines`,
      `/elsewhere/dm-3/dm/name:x`,
    ].join('\n'),
  );
  expect(read({ devices, mappers }).devices.map(({ name, mapper }) => [name, mapper])).toEqual([
    ['dm-0', { name: 'vg0-data', uuid: 'LVM-abc' }],
    ['dm-1', { name: 'a name:with anything', uuid: '' }],
    ['dm-2', undefined],
    ['dm-3', undefined],
  ]);
  expect(read({ mappers: { exit: 1, stdout: '', stderr: 'x' } }).devices).toHaveLength(1);
});

test('readUsage reports no swaps on a kernel without swap', () => {
  const swaps = { exit: 1, stdout: '', stderr: 'cat: /proc/swaps: No such file or directory' };
  expect(read({ swaps }).swaps).toEqual([]);
});

test.each(['loops', 'devices', 'mounts', 'swaps'])(
  'readUsage throws if %s cannot be read',
  (name) => {
    const failed = { exit: 1, stdout: '', stderr: 'Permission denied' };
    expect(() => read({ [name]: failed })).toThrow(ObservationError);
  },
);

test.each([
  ['8:10', '8:16'],
  ['103:1f', '259:31'],
])('fromHex converts %s of stat to %s', (hex, device) => expect(fromHex(hex)).toBe(device));
