import { describe, expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import type { ProbeResult } from '../../../src/nodes/job.ts';
import { onlyDisks, readView, viewProbes } from '../../../src/storage/lvm/view.ts';
import { missing, result } from '../../support/fake-executor.ts';
import { viewAnswers } from '../../support/lvm-reports.ts';

const UUID = '0b8e7a2c-2d52-4c4b-9a34-0a2b4a2e9d11';
const loops = (...rows: [string, string][]) =>
  result(
    0,
    JSON.stringify({
      loopdevices: rows.map(([name, file]) => ({
        ...{ name: `/dev/${name}`, 'back-file': file, 'back-ino': 1, 'maj:min': '7:0' },
        ...{ autoclear: false, ro: false, offset: 0, sizelimit: 0 },
      })),
    }),
  );
const devices = (...rows: object[]) =>
  result(
    0,
    JSON.stringify({
      blockdevices: rows.map((row) => ({
        ...{
          'maj:min': '8:0',
          pkname: null,
          type: 'disk',
          size: 1000,
          ro: false,
          serial: null,
          wwn: null,
        },
        ...row,
      })),
    }),
  );
const records = (...devices: [path: string, identity: string, fsType?: string][]) =>
  result(
    0,
    devices
      .map(([path, identity, fsType = '']) => {
        const intent = {
          version: 1,
          uid: UUID,
          device: { path, identity },
          sizeBytes: '1',
          fsType,
        };
        return `@${UUID}.intent\n${JSON.stringify(intent)}\n`;
      })
      .join(''),
  );

const viewOf = (answers: Record<string, ReturnType<typeof result>>) => {
  const all = new Map([...viewAnswers, ...Object.entries(answers)]);
  return readView((name) => all.get(name) ?? missing);
};
const hidden = (answers: Record<string, ReturnType<typeof result>>, ...paths: string[]) =>
  paths.filter(viewOf(answers).hides);

test('the test data answers every probe of the view', () => {
  expect(viewProbes().map(({ name }) => name)).toEqual(viewAnswers.map(([name]) => name));
});

describe('hiding loop devices from LVM', () => {
  test.each([
    ['a Volume', `/var/lib/metalk8s/storage/sparse/${UUID}`, true],
    ['a Volume in its own directory', `/srv/x/${UUID}`, true],
    ['an unfinished Volume', `/srv/x/${UUID}.partial`, true],
    ['a Volume whose file is gone', `/srv/x/${UUID} (deleted)`, true],
    ['a volume of mode Block, attached by the kubelet', '/dev/dm-7', true],
    [
      'the kubelet’s own path of a volume of mode Block',
      '/var/lib/kubelet/plugins/kubernetes.io/local-volume/volumeDevices/pv/uid',
      true,
    ],
    ['unknown', '', true],
    ['a file of the node itself', '/var/lib/vg0.img', false],
  ])('depends on the backing file: %s', (_, file, isHidden) => {
    const answers = { loops: loops(['loop3', file]) };
    expect(hidden(answers, '/dev/loop3', '/dev/loop3p1')).toHaveLength(isHidden ? 2 : 0);
  });

  test('includes a loop device that is attached later', () => {
    expect(
      hidden({ loops: loops(['loop3', '/vg.img']) }, '/dev/loop3', '/dev/loop30', '/dev/loop4'),
    ).toEqual(['/dev/loop30', '/dev/loop4']);
  });

  test('includes RAID on loop devices of Volumes, but not on the node’s own', () => {
    const answers = {
      loops: loops(['loop3', `/srv/${UUID}`], ['loop4', '/vg.img']),
      devices: devices(
        { kname: 'loop3', type: 'loop' },
        { kname: 'loop4', type: 'loop' },
        { kname: 'md127', type: 'raid1', pkname: 'loop3' },
        { kname: 'md1', type: 'raid1', pkname: 'loop4' },
        { kname: 'md1', type: 'raid1', pkname: 'sdb' },
        { kname: 'md2', type: 'raid1', pkname: 'dm-1' },
        { kname: 'dm-1', type: 'lvm', pkname: 'sda' },
        { kname: 'md3', type: 'raid1', pkname: 'sdb' },
        { kname: 'sdb' },
      ),
    };
    expect(hidden(answers, '/dev/md127', '/dev/md1', '/dev/md2', '/dev/md3', '/dev/sdb')).toEqual([
      '/dev/md127',
      '/dev/md2',
    ]);
  });
});

describe('hiding disks from LVM', () => {
  const SDA = { kname: 'sda', wwn: '0x5000c500a1b2c3d4', serial: 'S1' };
  const SDB = { kname: 'sdb', serial: 'S2' };
  const PARTS = [
    { kname: 'sda1', pkname: 'sda', type: 'part', wwn: SDA.wwn },
    { kname: 'sda2', pkname: 'sda', type: 'part', wwn: SDA.wwn },
  ];
  test.each<[string, [string, string, string?], string[]]>([
    [
      'a disk with its partitions',
      ['/dev/sdb', 'wwn=0x5000c500a1b2c3d4 size=1000'],
      ['sda', 'sda1', 'sda2'],
    ],
    ['a single partition', ['/dev/sda2', 'wwn=0x5000c500a1b2c3d4 partition=2 size=9'], ['sda2']],
    ['a unique serial number', ['/dev/sdz', 'serial=S2 size=1000'], ['sdb']],
    ['never a path alone, which another disk may have now', ['/dev/sda', 'size=1000'], []],
    [
      'never a disk with another WWN',
      ['/dev/sda', 'wwn=0x5000c500ffffffff serial=S1 size=1000'],
      [],
    ],
  ])('depends on the record: %s', (_, record, expected) => {
    const answers = { devices: devices(SDA, SDB, ...PARTS), others: records(record) };
    const paths = ['sda', 'sda1', 'sda2', 'sdb'].map((name) => `/dev/${name}`);
    expect(hidden(answers, ...paths)).toEqual(expected.map((name) => `/dev/${name}`));
  });

  test('includes RAID on a recorded disk, but not on the node’s own', () => {
    const md = (kname: string, pkname: string) => ({ kname, pkname, type: 'raid1' });
    const answers = {
      devices: devices(SDA, SDB, ...PARTS, md('md127', 'sda2'), md('md1', 'sdb')),
      others: records(['/dev/sda2', 'wwn=0x5000c500a1b2c3d4 partition=2 size=9']),
    };
    expect(hidden(answers, '/dev/sda2', '/dev/md127', '/dev/md1', '/dev/sda1')).toEqual([
      '/dev/sda2',
      '/dev/md127',
    ]);
  });

  const PATHS = ['sda', 'sdb', 'dm-3', 'dm-4', 'dm-5'];
  const map = (disk: { serial: string; wwn?: string }) => ({
    devices: devices(
      { kname: 'sda', ...disk },
      { kname: 'sdb', ...disk },
      ...['sda', 'sdb'].map((pkname) => ({ kname: 'dm-3', pkname, type: 'mpath' })),
      ...['dm-4', 'dm-5'].map((kname) => ({ kname, pkname: 'dm-3', type: 'part' })),
      { kname: 'sdc', serial: 'S9' },
      { kname: 'dm-6', pkname: 'sdc', type: 'mpath' },
    ),
    mappers: result(
      0,
      ['dm-4', 'dm-5']
        .flatMap((name, at) => [
          `/sys/devices/virtual/block/${name}/dm/name:m${at + 1}`,
          `/sys/devices/virtual/block/${name}/dm/uuid:part${at + 1}-mpath-3500`,
        ])
        .join('\n'),
    ),
  });
  test.each<[string, { serial: string; wwn?: string }, string, string[]]>([
    [
      'by its WWN',
      { serial: 'S1', wwn: '0x5000c500a1b2c3d4' },
      'wwn=0x5000c500a1b2c3d4 size=1000',
      PATHS,
    ],
    ['by the serial number of all of its paths', { serial: 'S1' }, 'serial=S1 size=1000', PATHS],
    ['a single partition', { serial: 'S1' }, 'serial=S1 partition=2 size=9', ['dm-5']],
  ])('includes disks that multipathd uses: %s', (_, disk, identity, expected) => {
    const answers = { ...map(disk), others: records(['/dev/sda', identity]) };
    const paths = [...PATHS, 'sdc', 'dm-6'].map((name) => `/dev/${name}`);
    expect(hidden(answers, ...paths)).toEqual(expected.map((name) => `/dev/${name}`));
  });

  test('ignores a serial number that two disks share', () => {
    const answers = {
      devices: devices(SDB, { ...SDB, kname: 'sdc' }),
      others: records(['/dev/sdb', 'serial=S2 size=1000']),
    };
    expect(hidden(answers, '/dev/sdb', '/dev/sdc')).toEqual([]);
  });
});

test.each<[string, [string, string, string?], string[]]>([
  ['in mode Block', ['/dev/vg0/a', 'vg=x'], ['/dev/vg0/a']],
  ['with a file system, which contains no volume group', ['/dev/vg0/a', 'vg=x', 'ext4'], []],
  ['that Stowage did not create', ['/dev/vg1/a.b', 'dm=LVM-x size=1'], ['/dev/vg1/a.b']],
  ['by a device number that another volume may have now', ['/dev/dm-3', 'dm=LVM-x size=1'], []],
])('the view decides whether to hide a logical volume %s', (_, record, expected) => {
  const paths = ['/dev/vg0/a', '/dev/vg0/ab', '/dev/vg1/a.b', '/dev/vg1/axb', '/dev/dm-3'];
  expect(hidden({ others: records(record) }, ...paths)).toEqual(expected);
});

test.each<[string, string, string | undefined]>([
  ['none', '', 'filter'],
  ['a filter that accepts all devices', 'filter=["a|.*|"]\nglobal_filter="a/.*/"\n', 'filter'],
  ['filter is set', 'filter=["r|^/dev/drbd|","a|.*|"]\n', 'global_filter'],
  ['global_filter is set', 'global_filter=["r|^/dev/zd|"]\n', 'filter'],
  ['both are set, so neither is used', 'filter=["r|x|"]\nglobal_filter=["r|y|"]\n', undefined],
])('the view uses the filter that lvm.conf does not set: %s', (_, stdout, setting) => {
  const { words, hides } = viewOf({ 'LVM filters': result(stdout === '' ? 5 : 0, stdout) });
  expect(words).toEqual(
    setting === undefined ? [] : ['--config', `devices{${setting}=["r|^/dev/loop[0-9]|"]}`],
  );
  // The device counts as hidden, even if LVM shows it.
  expect(hides('/dev/loop9')).toBe(true);
});

test('the view accepts the node’s loop devices first, and escapes recorded paths', () => {
  const { words } = viewOf({
    loops: loops(['loop3', '/vg.img']),
    others: records(['/dev/mapper/a"|b c+', 'dm=x']),
  });
  expect(words[1]).toBe(
    'devices{filter=["a|^/dev/loop3(p[0-9]+)?$|","r|^/dev/loop[0-9]|","r|^/dev/mapper/a..b.c[+]$|"]}',
  );
  expect(onlyDisks(['/dev/mapper/mpath.a'])).toBe(
    'devices{filter=["a|^/dev/mapper/mpath[.]a$|","r|.*|"]}',
  );
});

test.each<[string, ProbeResult, ReasonCode]>([
  ['LVM filters', result(1, '', 'denied'), 'LVMFiltersUnread'],
  ['LVM filters', result(127, '', 'not found'), 'LVMFiltersUnread'],
  ['others', result(0, '@x.intent\n{'), 'RecordOfAnotherDamaged'],
  ['loops', result(1), 'ProbeFailed'],
])('readView throws if %s cannot be read', (name, answer, code) => {
  expect(() => viewOf({ [name]: answer })).toThrow(
    expect.objectContaining({
      name: 'ObservationError',
      reason: expect.objectContaining({ code }),
    }),
  );
});
