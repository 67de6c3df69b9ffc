import { describe, expect, test } from '@jest/globals';
import type { ProbeResult } from '../../../src/nodes/job.ts';
import { readFreeExtents, readGroups, readVolumes } from '../../../src/storage/lvm/report.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import { group } from '../../support/lvm-input.ts';
import {
  diskRow,
  LV,
  lvRow,
  NO_DEVICE,
  segmentRow,
  VG,
  VIEW,
  vgRow,
} from '../../support/lvm-reports.ts';

/** Returns a report in the format of LVM 2.03.16. */
const printed = (key: string, ...rows: string[]) => ({
  exit: 0,
  stdout: `  {
      "report": [
          {
              "${key}": [
                  ${rows.join(',\n                  ')}
              ]
          }
      ]
  }
`,
  stderr: '',
});

/** Returns the groups named vg0 in a report, with one disk. */
const groupsIn = (vgs: ProbeResult, view = VIEW) => {
  const disks = printed(
    'pv',
    JSON.stringify(diskRow('/dev/sda')),
    JSON.stringify(diskRow('[unknown]')),
  );
  return readGroups((name) => (name === 'groups' ? vgs : disks), view, 'vg0');
};
const volumesIn = (lvs: ProbeResult) => readVolumes(lvs, { uuid: VG });

const vg = (name: string, attr: string) => JSON.stringify(vgRow({ vg_name: name, vg_attr: attr }));

describe('readGroups', () => {
  test('reads only groups with the name', () => {
    expect(
      groupsIn(printed('vg', vg('a', 'wz--n-'), vg('vg0', 'wz--n-'), vg('vg0', 'wz--n-'))),
    ).toEqual(
      [1, 2].map(() => ({
        name: 'vg0',
        uuid: VG,
        readOnly: false,
        exported: false,
        partial: false,
        shared: false,
        extentBytes: 4194304n,
        freeExtents: 766n,
        disks: ['/dev/sda'],
      })),
    );
    expect(groupsIn(printed('vg'))).toEqual([]);
  });

  test('ignores groups on devices of Volumes, even if LVM lists them', () => {
    const view = { ...VIEW, hides: (path: string) => path === '/dev/sda' };
    expect(groupsIn(printed('vg', vg('vg0', 'wz--n-')), view)).toEqual([]);
  });

  test('skips messages of LVM within a report', () => {
    const { stdout, ...rest } = printed('vg', vg('vg0', 'wz--n-'));
    const said = stdout.replace(
      '"report": [',
      '"report": [\n  Retrying metadata scan.\n  WARNING: VG vg0 …',
    );
    expect(said).not.toBe(stdout);
    expect(groupsIn({ ...rest, stdout: said })).toMatchObject([{ name: 'vg0' }]);
  });

  test.each([
    ['rz--n-', { readOnly: true }],
    ['wzx-n-', { exported: true }],
    ['wz-pn-', { partial: true }],
    ['wz--nc', { shared: true }],
    ['wz--ns', { shared: true }],
  ])('reads the attributes %s', (attr, expected) => {
    expect(groupsIn(printed('vg', vg('vg0', attr)))).toMatchObject([expected]);
  });
});

describe('readVolumes', () => {
  const lv = (lv_attr: string, more: object = {}) =>
    JSON.stringify(
      lvRow({ lv_attr, lv_size: '67108864', lv_tags: 'a,stowage.dev/uid=u', ...more }),
    );
  const plain = {
    name: 'data1',
    uuid: LV,
    kind: '-',
    writable: true,
    active: true,
    suspended: false,
    open: false,
    health: '-',
    sizeBytes: 67108864n,
    tags: ['a', 'stowage.dev/uid=u'],
    pool: undefined,
    origin: undefined,
    device: '253:3',
    dataPercent: undefined,
    metadataPercent: undefined,
    striped: false,
    zeroes: false,
  };

  test('reads an active volume', () => {
    expect(volumesIn(printed('lv', lv('-wi-a-----')))).toEqual([plain]);
  });

  test.each<[string, object, object]>([
    [
      '-wi-------',
      { lv_kernel_major: '-1', lv_kernel_minor: '-1' },
      { active: false, device: undefined },
    ],
    ['-wi-ao----', {}, { open: true }],
    ['-wi-a-----', { lv_layout: 'striped' }, { striped: true }],
    ['-wi-a-----', { lv_layout: 'linear,striped' }, { striped: true }],
    ['-wi-s-----', {}, { suspended: true, active: true }],
    ['-wi-d-----', {}, { suspended: true }],
    ['-ri-a-----', {}, { writable: false }],
    ['-wi-----p-', { lv_kernel_major: '-1' }, { health: 'p', active: false }],
    ['owi-a-s---', { lv_tags: '' }, { kind: 'o', tags: [] }],
    [
      'Vwi-a-tz--',
      { pool_lv: 'pool', data_percent: '3.12' },
      { kind: 'V', pool: 'pool', dataPercent: 3.12 },
    ],
    [
      'twi-aotzD-',
      { data_percent: '100.00', metadata_percent: '12.01' },
      { kind: 't', health: 'D', dataPercent: 100, metadataPercent: 12.01 },
    ],
    [
      'Cwi-aoC---',
      { pool_lv: '[fast_cvol]', data_percent: '1.50' },
      { kind: 'C', pool: undefined },
    ],
    ['Vwi---tz-k', { pool_lv: 'pool', origin: 'data0' }, { origin: 'data0', active: false }],
  ])('reads the attributes %s with %j', (attr, more, expected) => {
    expect(volumesIn(printed('lv', lv(attr, more)))).toEqual([expect.objectContaining(expected)]);
  });
});

test('readVolumes lists only the volumes of the group with the UUID', () => {
  const rows = [lvRow(), lvRow({ vg_uuid: 'other', lv_name: 'data2' })].map((row) =>
    JSON.stringify(row),
  );
  expect(volumesIn(printed('lv', ...rows)).map(({ name }) => name)).toEqual(['data1']);
});

test('readVolumes reads an empty report of LVM 2.03', () => {
  expect(volumesIn(printed('lv'))).toEqual([]);
});

test('a thin volume with snapshots belongs to its pool', () => {
  const rows = [
    lvRow({
      ...NO_DEVICE,
      lv_name: 'a',
      lv_attr: 'owi---tz--',
      pool_lv: 'pool',
      lv_layout: 'thin,sparse',
    }),
    lvRow({ ...NO_DEVICE, lv_name: 'pool', lv_attr: 'twi---tz--', lv_layout: 'thin,sparse' }),
  ];
  expect(volumesIn(printed('lv', ...rows.map((each) => JSON.stringify(each))))).toMatchObject([
    { pool: 'pool' },
    { pool: undefined },
  ]);
});

test.each(['12,5', '-1', 'nan', '1e2', 'full'])('readVolumes rejects percentage %s', (text) => {
  const row = lvRow({
    lv_attr: 'twi-aotz--',
    data_percent: text,
    metadata_percent: '1',
    lv_layout: 'thin,pool',
  });
  const read = (columns: object) =>
    volumesIn(printed('lv', JSON.stringify({ ...row, ...columns })));
  expect(() => read({})).toThrow(ObservationError);
  expect(read({ data_percent: '12.50' })).toMatchObject([{ dataPercent: 12.5 }]);
});

test('readFreeExtents lists allocatable extents of the group, the largest first', () => {
  const rows = [
    segmentRow('/dev/sdb', 0, 16, { segtype: 'linear' }),
    segmentRow('/dev/sdb', 16, 10),
    segmentRow('/dev/sdc', 0, 900, { pv_attr: 'u--' }),
    segmentRow('/dev/sdd', 0, 255),
    segmentRow('/dev/sde', 0, 999, { vg_uuid: 'other' }),
  ];
  const segments = printed('pvseg', ...rows.map((row) => JSON.stringify(row)));
  expect(readFreeExtents(segments, { ...group, uuid: VG })).toEqual([
    { pv: '/dev/sdd', first: 0n, count: 255n, offsetBytes: 1048576n, sizeBytes: 255n << 22n },
    {
      pv: '/dev/sdb',
      first: 16n,
      count: 10n,
      offsetBytes: 1048576n + (16n << 22n),
      sizeBytes: 10n << 22n,
    },
  ]);
});

test.each([
  [{ exit: 5, stdout: '', stderr: '  Volume group "vg0" not found' }],
  [{ exit: 0, stdout: '', stderr: '' }],
  [{ exit: 0, stdout: '{"report":[{}]}', stderr: '' }],
  [{ exit: 0, stdout: '{"report":[]}', stderr: '' }],
  [{ exit: 0, stdout: '{"report":[{"vg":[]}]}', stderr: '' }],
  [{ exit: 0, stdout: '{"report":[{"lv":[{"lv_name":"a"}]}]}', stderr: '' }],
])('readVolumes throws on %j', (result) => {
  expect(() => volumesIn(result)).toThrow(ObservationError);
});
