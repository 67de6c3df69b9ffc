import { describe, expect, test } from '@jest/globals';
import { plan } from '../../../src/storage/plan.ts';
import type { DesiredLvm, DeviceFacts, ObservedLvm } from '../../../src/storage/types.ts';
import {
  dm,
  ext4,
  free,
  GIB,
  group,
  lv,
  lvmBlock,
  lvmDesired,
  lvmMade,
  lvmNode,
  MIB,
  madeAs,
  madeIn,
  pool,
  thin,
  thinLv,
} from '../../support/lvm-input.ts';
import { writesTo } from '../../support/plans.ts';
import { UID } from '../../support/volume-input.ts';

const UNMARKED = { intent: undefined, done: undefined, recordFiles: false } as const;

const WAIT = `udevadm settle --timeout=10 --exit-if-exists=/dev/disk/by-uuid/${UID}`;
const WAIT_DM = `udevadm settle --timeout=10 --exit-if-exists=/dev/disk/by-id/dm-uuid-${dm.dmUuid}`;
const ACTIVATE = 'lvchange --activate y --ignoreactivationskip vg0/data1';
const LOOK = 'udevadm trigger --action=change --name-match=/dev/dm-3';
const recorded: DesiredLvm = { ...lvmDesired, recorded: true, identity: dm.identity };
const inactive = { ...lv, active: false, device: undefined };
const xfs: DeviceFacts = {
  ...dm,
  signature: { found: 'one', type: 'xfs', uuid: UID },
  content: `xfs:${UID}`,
};

function outcome(wanted: DesiredLvm, observed: ObservedLvm): unknown {
  const made = plan('present', wanted, observed, 0);
  if ('refusal' in made) return made.refusal;
  const commands = made.steps
    .map(({ argv }) => argv.join(' '))
    .filter((command) => !/^(install|mv|sync|dd of=\/var)/.test(command));
  return made.notes === undefined ? commands : { commands, notes: made.notes };
}

describe('is there', () => {
  test.each<[string, ObservedLvm, unknown, DesiredLvm?]>([
    ['already', lvmMade(), []],
    ['also without records', lvmMade(ext4, { intent: undefined, done: undefined }), []],
    ['also of a group that lacks another disk', madeIn({ partial: true }), []],
    [
      'after a reboot',
      lvmMade(dm, { volumes: [inactive], target: { is: 'missing' }, link: undefined }),
      [ACTIVATE, WAIT],
    ],
    [
      'after a reboot, Block',
      lvmMade(dm, { volumes: [inactive], target: { is: 'missing' }, link: undefined }),
      [ACTIVATE, WAIT_DM],
      { ...recorded, mode: 'Block' },
    ],
    [
      'once udev has looked at what LVM had it leave out',
      lvmMade(ext4, { link: undefined }),
      ['lvchange --refresh vg0/data1', LOOK, WAIT],
    ],
    [
      'once its pool is resumed',
      lvmMade(ext4, { volumes: [thinLv, { ...pool, suspended: true }], target: { is: 'missing' } }),
      ['lvchange --refresh vg0/pool'],
    ],
    [
      'once it is resumed',
      lvmMade(ext4, { volumes: [{ ...lv, suspended: true }], target: { is: 'missing' } }),
      ['lvchange --refresh vg0/data1'],
    ],
    [
      'once its device has the size that LVM gave it',
      madeAs({ sizeBytes: 2n * GIB }),
      ['lvchange --refresh vg0/data1'],
    ],
    [
      'under another name',
      lvmMade(dm, { volumes: [{ ...inactive, name: 'old' }], target: { is: 'missing' } }),
      ['lvchange --activate y --ignoreactivationskip vg0/old', WAIT],
    ],
    [
      'as MetalK8s made it, and is tagged once that is on record',
      lvmMade(ext4, {
        volumes: [{ ...lv, tags: [] }],
        intent: undefined,
        done: undefined,
        recordFiles: false,
      }),
      [`lvchange --addtag stowage.dev/uid=${UID} vg0/data1`],
    ],
    ...(['partial', 'shared', 'readOnly'] as const).map(
      (odd): [string, ObservedLvm, unknown, DesiredLvm?] => [
        `as MetalK8s made it, and gets no tag in a group that is ${odd}`,
        lvmMade(ext4, {
          groups: [{ ...group, [odd]: true }],
          volumes: [{ ...lv, tags: [] }],
          intent: undefined,
          done: undefined,
        }),
        [],
      ],
    ),
    ['when a copy has its tag', lvmMade(ext4, { volumes: [{ ...lv, uuid: 'B', name: 'b' }, lv] }), []],
    [
      'without its name or its tag, by its UUID',
      lvmMade(ext4, {
        volumes: [
          { ...lv, uuid: 'B' },
          { ...lv, name: 'old', tags: [] },
        ],
      }),
      [`lvchange --addtag stowage.dev/uid=${UID} vg0/old`],
    ],
    [
      'by its UUID alone, and gets no tag: the status may be of a backup',
      lvmMade(dm, { ...UNMARKED, volumes: [{ ...lv, name: 'prod', tags: [] }] }),
      [],
      { ...recorded, mode: 'Block' },
    ],
    [
      'as MetalK8s made it, known by its name alone',
      lvmMade(ext4, {
        volumes: [{ ...lv, tags: [] }],
        intent: undefined,
        done: undefined,
        recordFiles: false,
      }),
      [],
      lvmDesired,
    ],
  ])('%s', (_, observed, commands, wanted = recorded) => {
    expect(outcome(wanted, observed)).toEqual(commands);
  });

  test('nothing of it writes to the volume', () => {
    for (const observed of [lvmMade(), lvmMade(dm, { volumes: [inactive], target: { is: 'missing' } })]) {
      const made = plan('present', recorded, observed, 0);
      expect('steps' in made ? writesTo(made.steps) : 'refused').toEqual([]);
    }
  });

  test('activation is of the logical volume that was looked at', () => {
    const observed = lvmMade(dm, { volumes: [inactive], target: { is: 'missing' } });
    const made = plan('present', recorded, observed, 0);
    expect('steps' in made && made.steps[0]?.guards).toEqual([
      {
        argv: ['lvs', '--noheadings', '-o', 'lv_uuid', 'vg0/data1'],
        expect: { exit: 0, stdout: { has: `  ${lv.uuid}`, lacks: '\t' } },
        refusal: expect.anything(),
      },
    ]);
  });
});

describe('refused, and nothing is made anew', () => {
  const missing = { volumes: [], target: { is: 'missing' } } as const;
  test.each<[string, ObservedLvm, RegExp, DesiredLvm?]>([
    ['the group is away', lvmNode({ groups: [] }), /^there is no volume group vg0 on the node$/],
    ['another group of its name', madeIn({ uuid: 'B' }), /is not the one that/],
    ['exported', madeIn({ exported: true }), /is exported$/],
    ['gone', lvmMade(ext4, missing), /^the logical volume vg0\/data1 is missing$/],
    ['partial', madeAs({ health: 'p' }), /is away$/],
    ['its pool failed', lvmMade(ext4, { volumes: [{ ...thinLv, health: 'F' }] }), /thin pool .* has failed$/],
    [
      'its pool failed, which it does not say itself',
      lvmMade(ext4, { volumes: [thinLv, { ...pool, health: 'F' }] }),
      /thin pool .* has failed$/,
    ],
    ['another of its name', madeAs({ uuid: 'B', tags: [] }), /another logical volume/],
    [
      'another of its name, and the status is lost',
      madeAs({ uuid: 'B', tags: [] }),
      /another logical volume/,
      lvmDesired,
    ],
    ['a copy with its tag', madeAs({ uuid: 'B' }), /another logical volume/],
    ...['t', 's', 'd'].map((kind): [string, ObservedLvm, RegExp, DesiredLvm?] => [
      `of the name, and of kind ${kind}`,
      lvmMade(dm, { volumes: [{ ...lv, kind, tags: [] }], intent: undefined, done: undefined }),
      /holds a Volume's data: lvs shows it as/,
      lvmBlock,
    ]),
    [
      'two with its tag, and the status is lost',
      lvmMade(ext4, { volumes: [lv, { ...lv, uuid: 'B', name: 'b' }] }),
      /^several logical volumes carry the tag/,
      lvmDesired,
    ],
    ['without a device', lvmMade(ext4, { target: { is: 'missing' } }), /has no device/],
    ['something else is on it', lvmMade({ ...xfs, signature: { found: 'ambivalent' } }), /should carry/],
    ['no udev', lvmMade(ext4, { udev: false, link: undefined }), /^no udev runs/],
  ])('%s', (_, observed, refusal, wanted = recorded) => {
    expect(outcome(wanted, observed)).toMatch(refusal);
  });
});

describe('grows', () => {
  const larger = { ...recorded, sizeBytes: 2n * GIB };
  const EXTEND = 'lvextend --extents 512 vg0/data1';
  const FREE = { free: [{ ...free, count: 256n }] };
  const MOUNTED = (type: string, grow: string) => [
    `mkdir -p -m 0700 -- /run/stowage/mounts/${UID}`,
    `mount -t ${type} -o nosuid,nodev,noexec -- /dev/dm-3 /run/stowage/mounts/${UID}`,
    grow,
    `umount -- /run/stowage/mounts/${UID}`,
    `rmdir -- /run/stowage/mounts/${UID}`,
  ];
  const mounted = { mounts: new Map([['253:3', ['/pod']]]) };
  test.each<[string, ObservedLvm, string[], DesiredLvm?]>([
    ['ext4', lvmMade(ext4, FREE), [`${EXTEND} /dev/vdb:10-265`, ...MOUNTED('ext4', 'resize2fs /dev/dm-3')]],
    [
      'ext4 while it is mounted',
      lvmMade(ext4, { ...FREE, ...mounted }),
      [`${EXTEND} /dev/vdb:10-265`, ...MOUNTED('ext4', 'resize2fs /dev/dm-3')],
    ],
    [
      'xfs',
      lvmMade(xfs, FREE),
      [`${EXTEND} /dev/vdb:10-265`, ...MOUNTED('xfs', `xfs_growfs /run/stowage/mounts/${UID}`)],
    ],
    ['Block', lvmMade(dm, FREE), [`${EXTEND} /dev/vdb:10-265`], { ...larger, mode: 'Block' }],
    ['thin', lvmMade(dm, { volumes: [thinLv, pool] }), [EXTEND], { ...larger, mode: 'Block' }],
    [
      'on, when it was interrupted after lvextend',
      lvmMade({ ...ext4, sizeBytes: 2n * GIB }, { volumes: [{ ...lv, sizeBytes: 2n * GIB }] }),
      MOUNTED('ext4', 'resize2fs /dev/dm-3'),
    ],
    ['not, for a part of an extent that it has', lvmMade(), [], { ...recorded, sizeBytes: GIB - 1n }],
    ['not smaller', lvmMade(), [], { ...recorded, sizeBytes: MIB }],
  ])('%s', (_, observed, commands, wanted = larger) => {
    expect(outcome(wanted, observed)).toEqual(commands);
    const made = plan('present', wanted, observed, 0);
    expect('grows' in made).toBe(commands.length > 0);
  });

  test.each<[string, ObservedLvm, RegExp]>([
    ['without room', madeIn({ freeExtents: 255n }), /has 1069547520 bytes left, and 1073741824 more/],
    ['in a partial group', madeIn({ partial: true }), /is away$/],
    [
      'into disks that nothing is taken from',
      lvmMade(ext4, { free: [{ ...free, count: 255n }] }),
      /too few of the free extents of vg0 are on disks/,
    ],
    [
      'with snapshots',
      lvmMade(ext4, { volumes: [{ ...lv, kind: 'o' }], free: [free] }),
      /lvs shows its type as o\)\. Grow it with lvextend/,
    ],
    [
      'striped',
      lvmMade(ext4, { volumes: [{ ...lv, striped: true }], free: [free] }),
      /striped over several disks\. Grow it with lvextend/,
    ],
    ['as RAID', lvmMade(ext4, { volumes: [{ ...lv, kind: 'r' }], free: [free] }), /its type as r\)/],
    [
      'in a pool that waits for a command of LVM',
      lvmMade(ext4, { volumes: [thinLv, { ...pool, dataPercent: undefined }] }),
      /the thin pool vg0\/pool does not tell how full it is$/,
    ],
    [
      'in a pool without room for what growing writes',
      lvmMade(ext4, { volumes: [thinLv, { ...pool, dataPercent: 97 }] }),
      /bytes left of 2147483648, and growing by 1073741824 writes up to 88583700$/,
    ],
    [
      'on in a pool that became full after lvextend',
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
      'into a signature',
      lvmMade(ext4, { free: [{ ...free, content: 'linux_raid_member:x' }] }),
      /carry linux_raid_member:x/,
    ],
  ])('%s it does not, is as usable as it was, and says why', (_, observed, note) => {
    expect(outcome(larger, observed)).toEqual({
      commands: [],
      notes: [expect.stringMatching(new RegExp(`^cannot grow to 2147483648 bytes: .*${note.source}`))],
    });
  });
});

describe('grows what has no record of its size', () => {
  const larger = { ...recorded, sizeBytes: 2n * GIB };
  const RECORD = `dd of=/var/lib/stowage/volumes/${UID}.done.new conv=fsync status=none`;
  const planned = (observed: ObservedLvm) => {
    const made = plan('present', larger, observed, 0);
    return 'steps' in made ? made.steps.map(({ argv, stdin }) => [argv.join(' '), stdin] as const) : [];
  };
  test.each([
    ['MetalK8s made it', UNMARKED],
    ['the record is of an earlier version', { done: { sizeBytes: undefined } }],
  ])('%s: what it has is on record before, so that its file system follows', (_, more) => {
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

  test('somebody else must grow it: what it has is on record before they are told to', () => {
    const raid = { ...UNMARKED, volumes: [{ ...lv, kind: 'r' }], free: [free] };
    expect(planned(lvmMade(ext4, raid)).map(([, stdin]) => stdin)).toContain(`${GIB}\n`);
    expect(plan('present', larger, lvmMade(ext4, raid), 0)).toMatchObject({ grows: true });
    expect(outcome(larger, lvmMade(ext4, { ...raid, done: { sizeBytes: GIB }, recordFiles: true }))).toEqual({
      commands: [],
      notes: [expect.stringContaining('Grow it with lvextend; its file system follows')],
    });
  });

  test('known by its name alone, it gets no record, with which the name would be of another', () => {
    const made = { ...UNMARKED, volumes: [{ ...lv, tags: [] }], free: [free] };
    expect(outcome({ ...lvmDesired, sizeBytes: 2n * GIB }, lvmMade(ext4, made))).toEqual([]);
  });
});

test('a file system of a thin pool grows where that has room right then, one at a time', () => {
  const larger = { ...recorded, sizeBytes: 2n * GIB };
  const made = plan('present', larger, lvmMade(ext4, { volumes: [thinLv, pool] }), 0);
  const steps = 'steps' in made ? made.steps : [];
  for (const program of ['lvextend', 'resize2fs']) {
    const step = steps.find(({ argv }) => argv[0] === program);
    expect(step?.guards[0]?.argv.join(' ')).toContain('&&data_percent<95.88&&');
  }
  expect(steps.find(({ argv }) => argv[0] === 'resize2fs')).toMatchObject({
    lock: '/dev/mapper/vg0-pool-tpool',
  });
});

test.each([
  ['D', 'is out of space', 'lvextend vg0/pool'],
  ['M', 'has read-only metadata', 'lvmthin'],
])('an owner is told of a pool with the health %s', (health, what, help) => {
  const wanted = { ...thin, recorded: true, identity: dm.identity };
  expect(outcome(wanted, lvmMade(ext4, { volumes: [thinLv, { ...pool, health }] }))).toEqual({
    commands: [],
    notes: [expect.stringMatching(new RegExp(`^the thin pool vg0/pool ${what}, .*${help}`))],
  });
});

test('a copy, which has the UUID of the file system, is not grown in its place', () => {
  const made = plan('present', { ...recorded, sizeBytes: 2n * GIB }, lvmMade(ext4, { free: [free] }), 0);
  const mount = 'steps' in made ? made.steps.find(({ argv }) => argv[0] === 'mount') : undefined;
  expect(mount?.guards[0]).toMatchObject({
    argv: ['cat', '/sys/class/block/dm-3/dm/uuid'],
    expect: { stdout: { is: dm.dmUuid } },
  });
});

test('an owner is told what a thin pool has promised', () => {
  const others = [thinLv, { ...thinLv, name: 'b', tags: [], sizeBytes: 2n * GIB }];
  const wanted = { ...thin, recorded: true, identity: dm.identity };
  expect(outcome(wanted, lvmMade(ext4, { volumes: [...others, pool] }))).toEqual({
    commands: [],
    notes: ['the thin pool vg0/pool has promised 3221225472 bytes to its volumes and has 2147483648'],
  });
  expect(outcome(wanted, lvmMade(ext4, { volumes: [thinLv, pool] }))).toEqual([]);
  expect(outcome({ ...lvmBlock, recorded: true }, lvmMade(dm))).toEqual([]);
});
