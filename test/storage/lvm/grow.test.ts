import { describe, expect, test } from '@jest/globals';
import { messageOf, reason } from '../../../src/api/reasons.ts';
import { scriptArgv } from '../../../src/storage/scripts/scripts.ts';
import type { DesiredLvm, ObservedLvm } from '../../../src/storage/types.ts';
import {
  dm,
  ext4,
  free,
  GIB,
  lv,
  lvmDesired,
  lvmMade,
  MIB,
  madeIn,
  pool,
  thinLv,
} from '../../support/lvm-input.ts';
import { plan } from '../../support/lvm-words.ts';
import { UID } from '../../support/volume-input.ts';
import { outcome, recorded, UNMARKED, xfs } from './attach-outcome.ts';

const FULL = messageOf(
  reason('ThinPoolFullToGrow', {
    ...{ pool: 'vg0/pool', left: 64424510, size: 2n * GIB },
    ...{ bytes: GIB, needed: 88583700 },
  }),
);

describe('expansion of a logical volume', () => {
  const larger = { ...recorded, sizeBytes: 2n * GIB };
  const EXTEND = 'lvextend --extents 512 vg0/data1';
  const FREE = { free: [{ ...free, count: 256n }] };
  const grown = (type: string) => [scriptArgv('stowage-grow', '/dev/dm-3', UID, type).join(' ')];
  const mounted = { mounts: new Map([['253:3', ['/pod']]]) };
  test.each<[string, ObservedLvm, string[], DesiredLvm?]>([
    ['ext4', lvmMade(ext4, FREE), [`${EXTEND} /dev/vdb:10-265`, ...grown('ext4')]],
    [
      'ext4 while it is mounted',
      lvmMade(ext4, { ...FREE, ...mounted }),
      [`${EXTEND} /dev/vdb:10-265`, ...grown('ext4')],
    ],
    ['xfs', lvmMade(xfs, FREE), [`${EXTEND} /dev/vdb:10-265`, ...grown('xfs')]],
    ['Block', lvmMade(dm, FREE), [`${EXTEND} /dev/vdb:10-265`], { ...larger, mode: 'Block' }],
    ['thin', lvmMade(dm, { volumes: [thinLv, pool] }), [EXTEND], { ...larger, mode: 'Block' }],
    [
      'interrupted after lvextend',
      lvmMade({ ...ext4, sizeBytes: 2n * GIB }, { volumes: [{ ...lv, sizeBytes: 2n * GIB }] }),
      grown('ext4'),
    ],
    ['a size within its last extent', lvmMade(), [], { ...recorded, sizeBytes: GIB - 1n }],
    ['a smaller size', lvmMade(), [], { ...recorded, sizeBytes: MIB }],
  ])('plans only the needed commands: %s', (_, observed, commands, wanted = larger) => {
    expect(outcome(wanted, observed)).toEqual(commands);
    const made = plan('attach', wanted, observed, 0);
    expect('grows' in made).toBe(commands.length > 0);
  });

  test.each<[string, ObservedLvm, RegExp]>([
    [
      'without room',
      madeIn({ freeExtents: 255n }),
      /has 1069547520 bytes left, and 1073741824 more/,
    ],
    ['in a partial group', madeIn({ partial: true }), /is missing$/],
    [
      'with free extents on disks that are not allocatable',
      lvmMade(ext4, { free: [{ ...free, count: 255n }] }),
      /too few of the free extents of vg0 are on allocatable disks/,
    ],
    [
      'with snapshots',
      lvmMade(ext4, { volumes: [{ ...lv, kind: 'o' }], free: [free] }),
      /lvs shows its type as o\)\. Extend it with lvextend/,
    ],
    [
      'striped',
      lvmMade(ext4, { volumes: [{ ...lv, striped: true }], free: [free] }),
      /striped over several disks\. Extend it with lvextend/,
    ],
    [
      'as RAID',
      lvmMade(ext4, { volumes: [{ ...lv, kind: 'r' }], free: [free] }),
      /its type as r\)/,
    ],
    [
      'in a pool whose usage LVM does not report',
      lvmMade(ext4, { volumes: [thinLv, { ...pool, dataPercent: undefined }] }),
      /LVM does not report the usage of the thin pool vg0\/pool$/,
    ],
    [
      'in a pool without room for writes of the expansion',
      lvmMade(ext4, { volumes: [thinLv, { ...pool, dataPercent: 97 }] }),
      new RegExp(`${FULL}$`),
    ],
    [
      'in a pool that became full after lvextend',
      lvmMade(
        { ...ext4, sizeBytes: 2n * GIB },
        {
          volumes: [
            { ...thinLv, sizeBytes: 2n * GIB },
            { ...pool, dataPercent: 100 },
          ],
        },
      ),
      /has 0 bytes left/,
    ],
    [
      'into free extents with a signature',
      lvmMade(ext4, { free: [{ ...free, content: 'linux_raid_member:x' }] }),
      /contain linux_raid_member:x/,
    ],
  ])('is skipped with a note: %s', (_, observed, note) => {
    expect(outcome(larger, observed)).toEqual({
      commands: [],
      notes: [
        expect.stringMatching(new RegExp(`^cannot expand to 2147483648 bytes: .*${note.source}`)),
      ],
    });
  });
});

describe('expansion of a logical volume without a recorded size', () => {
  const larger = { ...recorded, sizeBytes: 2n * GIB };
  const RECORD = `dd of=/var/lib/stowage/volumes/${UID}.done.new conv=fsync status=none`;
  const planned = (observed: ObservedLvm) => {
    const made = plan('attach', larger, observed, 0);
    return 'steps' in made
      ? made.steps.map(({ argv, stdin }) => [argv.join(' '), stdin] as const)
      : [];
  };
  test.each([
    ['MetalK8s made it', UNMARKED],
    ['the record is of an earlier version', { done: { sizeBytes: undefined } }],
  ])('records the current size before lvextend: %s', (_, more) => {
    const steps = planned(lvmMade(ext4, { ...more, free: [free] }));
    const first = steps.findIndex(([command]) => command === RECORD);
    expect(steps[0]?.[0]).toMatch(/^install -d/);
    expect(steps[first]?.[1]).toBe(`${GIB}\n`);
    const extended = steps.findIndex(([command]) => command.startsWith('lvextend'));
    expect(steps.slice(first, extended).map(([command]) => command.split(' ')[0])).toEqual([
      'dd',
      'mv',
      'sync',
    ]);
    expect(steps.findLast(([command]) => command === RECORD)?.[1]).toBe(`${2n * GIB}\n`);
  });

  test('records the current size before asking for a manual lvextend', () => {
    const raid = { ...UNMARKED, volumes: [{ ...lv, kind: 'r' }], free: [free] };
    expect(planned(lvmMade(ext4, raid)).map(([, stdin]) => stdin)).toContain(`${GIB}\n`);
    expect(plan('attach', larger, lvmMade(ext4, raid), 0)).toMatchObject({ grows: true });
    expect(
      outcome(larger, lvmMade(ext4, { ...raid, done: { sizeBytes: GIB }, recordFiles: true })),
    ).toEqual({
      commands: [],
      notes: [
        expect.stringContaining('Extend it with lvextend; Stowage then grows its file system'),
      ],
    });
  });

  test('writes no record for a volume that is known only by its name', () => {
    const made = { ...UNMARKED, volumes: [{ ...lv, tags: [] }], free: [free] };
    expect(outcome({ ...lvmDesired, sizeBytes: 2n * GIB }, lvmMade(ext4, made))).toEqual([]);
  });
});

test('a file system in a thin pool is expanded under a lock, if the pool has space', () => {
  const larger = { ...recorded, sizeBytes: 2n * GIB };
  const made = plan('attach', larger, lvmMade(ext4, { volumes: [thinLv, pool] }), 0);
  const steps = 'steps' in made ? made.steps : [];
  for (const program of ['lvextend', 'sh']) {
    const step = steps.find(({ argv }) => argv[0] === program);
    expect(step?.preconditions[0]?.argv.join(' ')).toContain('&&data_percent<95.88&&');
  }
  expect(steps.find(({ argv }) => argv[0] === 'sh')).toMatchObject({
    lock: '/dev/mapper/vg0-pool-tpool',
  });
});

test('an expansion verifies the device-mapper UUID, which a copy does not share', () => {
  const made = plan(
    'attach',
    { ...recorded, sizeBytes: 2n * GIB },
    lvmMade(ext4, { free: [free] }),
    0,
  );
  const grow = 'steps' in made ? made.steps.find(({ argv }) => argv[0] === 'sh') : undefined;
  expect(grow?.preconditions[0]).toMatchObject({
    argv: ['cat', '/sys/class/block/dm-3/dm/uuid'],
    expect: { stdout: { is: dm.dmUuid } },
  });
});

test('an expansion verifies that free extents are unchanged before lvextend', () => {
  const made = plan(
    'attach',
    { ...recorded, sizeBytes: 2n * GIB },
    lvmMade(ext4, { free: [free] }),
    0,
  );
  const extend =
    'steps' in made ? made.steps.find(({ argv }) => argv[0] === 'lvextend') : undefined;
  const blkid = extend?.preconditions.find(({ argv }) => argv[0] === 'blkid');
  expect(blkid).toMatchObject({
    argv: expect.arrayContaining([
      '-O',
      String(free.offsetBytes),
      '-S',
      String(free.sizeBytes),
      '/dev/vdb',
    ]),
    expect: { exit: 2, stdout: { is: '' } },
  });
});
