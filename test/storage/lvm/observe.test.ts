import { describe, expect, test } from '@jest/globals';
import { refuse } from '../../../src/api/reasons.ts';
import type { Probe, ProbeResult } from '../../../src/nodes/job.ts';
import { LSBLK } from '../../../src/storage/block-devices.ts';
import { observe } from '../../../src/storage/observe.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import { RECORDS } from '../../../src/storage/records.ts';
import type { DesiredLvm, ObservedLvm } from '../../../src/storage/types.ts';
import { missing, result } from '../../support/fake-executor.ts';
import { BY_UUID, byMapper, LINK } from '../../support/link-words.ts';
import { GIB, lvmBlock, lvmDesired, MIB, thin } from '../../support/lvm-input.ts';
import {
  diskRow,
  LV,
  lvRow,
  NO_DEVICE,
  report,
  segmentRow,
  VG,
  vgRow,
} from '../../support/lvm-reports.ts';
import { UID } from '../../support/volume-input.ts';

const DM = `LVM-${`${VG}${LV}`.replaceAll('-', '')}`;
const POOL = lvRow({
  ...{ lv_name: 'pool', lv_attr: 'twi-aotz--', lv_tags: '' },
  ...{ data_percent: '25.00', metadata_percent: '10.30' },
});
const OTHER = 'oooooo-AdwK-HC8I-hKFt-QyFw-1GG2-8zHVZz';
const SEGMENTS = report(
  'pvseg',
  segmentRow('/dev/sda', 0, 100, { segtype: 'linear' }),
  segmentRow('/dev/sda', 100, 56),
  segmentRow('/dev/sdb', 0, 200),
);
const LVM_ROW = {
  kname: 'dm-3',
  'maj:min': '253:3',
  pkname: 'sda',
  type: 'lvm',
  size: Number(GIB),
  ro: false,
  serial: null,
  wwn: null,
};

/**
 * Returns a node with responses by the first words of commands. Without an entry, a command reports
 * an absent object.
 */
function nodeWith(answers: Record<string, ProbeResult>) {
  const asked: string[][] = [];
  const all: Record<string, ProbeResult> = {
    'losetup -J': result(0),
    [LSBLK.join(' ')]: result(0, JSON.stringify({ blockdevices: [LVM_ROW] })),
    'cat /proc/self/mountinfo': result(0),
    'test -S': result(0),
    'vgs ': report('vg', vgRow()),
    'lvs ': report('lv', lvRow()),
    'lvmconfig ': result(5),
    'pvs --reportformat': report(
      'pv',
      diskRow('/dev/sda'),
      diskRow('/dev/sdb'),
      diskRow('/dev/loop7', OTHER),
    ),
    'pvs --segments': SEGMENTS,
    'blockdev ': result(0),
    'dd ': result(0),
    'blkid ': result(2),
    'wipefs ': result(0, '{"signatures":[]}'),
    'lsblk --raw': result(0, 'dm-3 253:3 sda lvm 1073741824 0  \n'),
    'cat /sys/class/block/dm-3/dm/uuid': result(0, `${DM}\n`),
    'find -H /var/lib/kubelet': result(0, '/dev/null'),
    ...answers,
  };
  const look = (probes: readonly Probe[]) => {
    asked.push(probes.map(({ argv }) => argv.join(' ')));
    const entries = probes.map(({ name, argv }) => {
      const line = argv.join(' ').replace(/ --config \S+/, '');
      const found = Object.keys(all)
        .filter((start) => line.startsWith(start))
        .sort((a, b) => b.length - a.length)[0];
      return [name, (found !== undefined && all[found]) || missing] as const;
    });
    return Promise.resolve(new Map(entries));
  };
  return { asked, look };
}

const seen = async (desired: DesiredLvm, answers: Record<string, ProbeResult>) => {
  const node = nodeWith(answers);
  const observed = (await observe(node.look, desired)) as ObservedLvm;
  return { observed, asked: node.asked };
};
const devices = (rows: object[]) => ({
  [LSBLK.join(' ')]: result(0, JSON.stringify({ blockdevices: rows })),
});
const LISTED = result(0, `${RECORDS}/${UID}.intent.new\n`);
const none = { 'lvs ': report('lv', POOL) };

describe('observing an existing logical volume', () => {
  test('uses the kernel’s device number, in three rounds', async () => {
    const { observed, asked } = await seen(lvmDesired, {});
    expect(asked).toHaveLength(3);
    expect(asked.flat().filter((line) => line.startsWith('stat -L -c %F'))).toEqual([]);
    expect(observed).toMatchObject({
      type: 'lvm',
      groups: [{ name: 'vg0', uuid: VG, freeExtents: 766n }],
      volumes: [{ name: 'data1', uuid: LV, active: true, device: '253:3' }],
      free: [],
      target: { is: 'device', facts: { name: 'dm-3', dmUuid: DM, content: '' } },
      space: { directory: '/dev/vg0', freeBytes: 766n * 4n * MIB, allocatedBytes: GIB },
    });
  });

  test.each<[string, DesiredLvm, string]>([
    ['', lvmDesired, LINK],
    [', in mode Block', lvmBlock, LINK],
    [' of an earlier version', { ...lvmDesired, earlierLink: BY_UUID }, BY_UUID],
    [
      ' of an earlier version in mode Block',
      { ...lvmBlock, earlierLink: byMapper(DM) },
      byMapper(DM),
    ],
  ])('resolves its persistent path%s', async (_, wanted, path) => {
    const there = { [`stat -L -c %t:%T ${path}`]: result(0, 'fd:3\n') };
    expect((await seen(wanted, there)).observed.link).toBe('253:3');
    expect((await seen(wanted, {})).observed.link).toBeUndefined();
  });

  test.each([
    ['-wi-s-----', 'suspended'],
    ['-wi-------', 'inactive'],
  ])('%s: does not read it while it is %s', async (lv_attr) => {
    const number = lv_attr === '-wi-------' ? NO_DEVICE : {};
    const { observed, asked } = await seen(lvmDesired, {
      'lvs ': report('lv', lvRow({ ...number, lv_attr })),
    });
    expect(observed.target).toEqual({ is: 'missing' });
    expect(asked.flat().filter((line) => line.includes('/dev/dm-3'))).toEqual([]);
  });

  test('does not read it while its thin pool is suspended', async () => {
    const own = lvRow({ lv_attr: 'Vwi-a-tz--', pool_lv: 'pool' });
    const suspended = lvRow({ lv_name: 'pool', lv_uuid: 'P', lv_attr: 'twi-s-tz--', lv_tags: '' });
    const { observed, asked } = await seen(lvmDesired, { 'lvs ': report('lv', own, suspended) });
    expect(observed.target).toEqual({ is: 'missing' });
    expect(asked.flat().filter((line) => line.includes('/dev/dm-3'))).toEqual([]);
  });

  test('lists free extents for an expansion', async () => {
    const { observed } = await seen({ ...lvmDesired, sizeBytes: 2n * GIB }, {});
    expect(observed.free).toMatchObject([
      { pv: '/dev/sdb', first: 0n, count: 200n },
      { pv: '/dev/sda', first: 100n, count: 56n },
    ]);
  });
});

describe('observing a logical volume to be created', () => {
  test('probes as many free extents as needed, the largest first', async () => {
    const { observed, asked } = await seen(lvmDesired, {
      ...none,
      [`blkid -p -O ${MIB} `]: result(0, 'DEVNAME=/dev/sdb\nUUID=u\nTYPE=ext4\nUSAGE=filesystem\n'),
    });
    expect(asked[3]).toEqual([
      'blockdev --flushbufs /dev/sdb',
      `blkid -p -O ${MIB} -S ${200n * 4n * MIB} -o export /dev/sdb`,
      `dd if=/dev/sdb of=/dev/null bs=1M count=4 iflag=skip_bytes skip=${MIB} status=none`,
      'blockdev --flushbufs /dev/sda',
      `blkid -p -O ${401n * MIB} -S ${56n * 4n * MIB} -o export /dev/sda`,
      `dd if=/dev/sda of=/dev/null bs=1M count=4 iflag=skip_bytes skip=${401n * MIB} status=none`,
    ]);
    expect(observed.free).toMatchObject([
      {
        content: 'ext4:u',
        blkidExit: 0,
        blkid: 'DEVNAME=/dev/sdb\nUUID=u\nTYPE=ext4\nUSAGE=filesystem',
      },
      { content: '', blkidExit: 2 },
    ]);
  });

  test.each<[string, ProbeResult, string]>([
    ['a table', result(0, 'PTUUID=p\nPTTYPE=gpt\n'), 'gpt:p'],
    ['a file system and a table', result(0, 'UUID=u\nTYPE=xfs\nPTTYPE=dos\n'), 'xfs:u+dos'],
    ['several signatures', result(8), 'ambivalent'],
    ['the entry of the disk itself in a table', result(0, 'PART_ENTRY_NUMBER=1\n'), ''],
  ])('describes content of free extents: %s', async (_, blkid, content) => {
    const { observed } = await seen(lvmDesired, { ...none, [`blkid -p -O ${MIB} `]: blkid });
    expect(observed.free[0]?.content).toBe(content);
  });

  test.each<[string, Record<string, ProbeResult>]>([
    [
      'free extents that cannot be read',
      { 'dd ': result(1, '', 'dd: error reading: Input/output error') },
    ],
    ['a blkid that fails', { 'blkid -p -O': result(4, '', 'usage') }],
    ['a cache that cannot be flushed', { 'blockdev ': result(1, '', 'blockdev: denied') }],
    ['an LVM that fails', { 'vgs ': result(5, '', 'failed') }],
    ['no LVM at all', { 'vgs ': result(127, '', 'vgs: not found') }],
  ])('throws on %s', async (_, answers) => {
    await expect(seen(lvmDesired, { ...none, ...answers })).rejects.toThrow(ObservationError);
  });

  test('reports a missing volume group without an error', async () => {
    const { observed } = await seen(lvmDesired, { 'vgs ': report('vg'), 'lvs ': report('lv') });
    expect(observed).toMatchObject({
      groups: [],
      volumes: [],
      free: [],
      space: { freeBytes: undefined },
    });
  });

  const two = {
    'vgs ': report('vg', vgRow({ vg_uuid: OTHER }), vgRow()),
    'pvs --reportformat': report('pv', diskRow('/dev/sda'), diskRow('/dev/sdc', OTHER)),
    'lvs ': report('lv', lvRow(), lvRow({ vg_uuid: OTHER, lv_name: 'theirs' })),
  };
  test('lists no volumes and extents if two volume groups have the name', async () => {
    const { observed } = await seen(lvmDesired, two);
    expect(observed).toMatchObject({ groups: [{}, {}], volumes: [], free: [] });
  });

  test.each([
    ['its status', { identity: `dm=${DM} size=1` }, {}],
    [
      'its intent',
      {},
      {
        [`cat ${RECORDS}/${UID}.intent`]: result(
          0,
          JSON.stringify({
            version: 1,
            uid: UID,
            device: { path: '/dev/vg0/data1', identity: `vg=${VG}` },
          }),
        ),
      },
    ],
  ])('prefers the volume group that %s records', async (_, recorded, more) => {
    const { observed } = await seen({ ...lvmDesired, ...recorded }, { ...two, ...more });
    expect(observed.groups.map(({ uuid }) => uuid)).toEqual([VG, OTHER]);
    expect(observed.groups[0]?.disks).toEqual(['/dev/sda']);
    expect(observed.volumes.map(({ name }) => name)).toEqual(['data1']);
    expect(observed.target.is).toBe('device');
  });

  test('ignores a volume group on a device of a Volume', async () => {
    const { observed } = await seen(lvmDesired, {
      ...two,
      'pvs --reportformat': report('pv', diskRow('/dev/sda'), diskRow('/dev/loop7', OTHER)),
    });
    expect(observed.groups.map(({ uuid }) => uuid)).toEqual([VG]);
    expect(observed.volumes.map(({ name }) => name)).toEqual(['data1']);
  });

  describe('free extents with content', () => {
    const EXTENT = 4n * MIB;
    const at = (extent: bigint) => `blkid -p -O ${MIB + extent * EXTENT} `;
    const XFS = result(0, 'UUID=u\nTYPE=xfs\n');
    const taken = async (
      pieces: [disk: string, start: number, count: number][],
      dirty: Record<string, ProbeResult>,
      more: Partial<DesiredLvm> = {},
    ) => {
      const { observed, asked } = await seen(
        { ...lvmDesired, ...more },
        {
          ...none,
          'pvs --segments': report('pvseg', ...pieces.map((each) => segmentRow(...each))),
          ...dirty,
        },
      );
      const free = observed.free.map(({ pv, first, count }) => `${pv}:${first}+${count}`);
      return {
        free,
        carries: observed.free.map(({ content }) => content),
        observed,
        rounds: asked.length,
      };
    };

    test.each<[string, [string, number, number][], Record<string, ProbeResult>, string[]]>([
      [
        'another piece is taken',
        [
          ['/dev/sda', 0, 400],
          ['/dev/sdb', 7, 300],
        ],
        { [at(0n)]: XFS },
        ['/dev/sdb:7+256'],
      ],
      [
        'the end of a piece that is twice as large',
        [['/dev/sda', 0, 600]],
        { [at(0n)]: XFS },
        ['/dev/sda:344+256'],
      ],
      [
        'parts of several pieces, each with an empty beginning',
        [
          ['/dev/sda', 0, 300],
          ['/dev/sdb', 7, 200],
          ['/dev/sdc', 9, 100],
        ],
        { [at(0n)]: XFS },
        ['/dev/sdb:7+200', '/dev/sdc:9+56'],
      ],
    ])('are avoided: %s', async (_, pieces, dirty, expected) => {
      const { free, carries, observed } = await taken(pieces, dirty);
      expect(free).toEqual(expected);
      expect(carries.every((content) => content === '')).toBe(true);
      expect(observed.passedOver).toMatchObject([{ pv: '/dev/sda', first: 0n, content: 'xfs:u' }]);
    });

    test.each<[string, [string, number, number][], Record<string, ProbeResult>]>([
      [
        'the only piece begins with content that may be as large',
        [['/dev/sda', 0, 511]],
        { [at(0n)]: XFS },
      ],
      [
        'the end of the piece has content, too',
        [['/dev/sda', 0, 600]],
        { [at(0n)]: XFS, [at(344n)]: result(8) },
      ],
      [
        'the other pieces are too small',
        [
          ['/dev/sda', 0, 300],
          ['/dev/sdb', 7, 255],
        ],
        { [at(0n)]: XFS },
      ],
    ])('are reported if %s', async (_, pieces, dirty) => {
      const { free, carries, observed } = await taken(pieces, dirty);
      expect(free).toEqual(['/dev/sda:0+256']);
      expect(carries).toEqual(['xfs:u']);
      expect(observed.passedOver).toEqual([]);
    });

    test('need no further probes if there are none', async () => {
      const { rounds, observed } = await taken([['/dev/sda', 0, 600]], {});
      expect(rounds).toBe(4);
      expect(observed.passedOver).toEqual([]);
    });
  });

  describe('on a node without the programs of LVM', () => {
    const said = 'sh: 1: lvmconfig: not found';
    const lacking = { 'lvmconfig ': result(127, '', said), ...devices([]) };

    test('finds nothing of a Volume without records', async () => {
      const { observed, asked } = await seen(lvmDesired, lacking);
      expect(observed).toMatchObject({ groups: [], volumes: [], lacksLvm: said });
      expect(asked).toHaveLength(1);
    });

    test.each<[string, Partial<DesiredLvm>, Record<string, ProbeResult>]>([
      ['the status records the storage', { recorded: true }, {}],
      ['the node has a record file', {}, { [`find ${RECORDS}/ -maxdepth 1 -name ${UID}`]: LISTED }],
      ['the kernel has a logical volume', {}, devices([LVM_ROW])],
    ])('throws if %s, and names the package', async (_, desired, answers) => {
      await expect(seen({ ...lvmDesired, ...desired }, { ...lacking, ...answers })).rejects.toThrow(
        new ObservationError(refuse('ProbeToolMissing', { package: 'lvm2', said })),
      );
    });
  });

  test('lists no extents of a missing disk', async () => {
    const { observed } = await seen(lvmDesired, {
      ...none,
      'pvs --segments': report(
        'pvseg',
        segmentRow('[unknown]', 0, 999, { pv_attr: 'a-m' }),
        segmentRow('/dev/sdb', 0, 200),
      ),
    });
    expect(observed.free.map(({ pv }) => pv)).toEqual(['/dev/sdb']);
  });

  test('reports no free space of an inactive thin pool', async () => {
    const asleep = { ...POOL, ...NO_DEVICE, lv_attr: 'twi---tz--' };
    const { observed } = await seen(thin, {
      'lvs ': report('lv', { ...asleep, data_percent: '', metadata_percent: '' }),
    });
    expect(observed.space.freeBytes).toBeUndefined();
  });

  test('reports the free space of the pool, and no extents, for a thin volume', async () => {
    const { observed, asked } = await seen(thin, none);
    expect(asked).toHaveLength(2);
    expect(observed.space).toEqual({
      directory: '/dev/vg0/pool',
      freeBytes: (GIB * 3n) / 4n,
      allocatedBytes: 0n,
    });
  });
});
